/** What SQLite's errors mean to those who use the store. */
import { messageOf } from '../../shape/thrown.ts'
import { StoreOpenError, StoreUnavailableError } from '../../store.ts'
import { resultCode, resultCodes } from './driver.ts'

/** Errors of the disk and the file are for operators and pass; the rest is ours, or the decision's, and stays as it is. */
export function toStoreError(error: unknown, file: string): unknown {
  const reason = unavailable[resultCode(error) ?? -1]
  if (reason !== undefined)
    return new StoreUnavailableError(`sqlite:${file} cannot be used: ${reason}`, { cause: error })
  if (resultCode(error) === resultCodes.constraint) {
    return new Error(`the ledger refused a change: ${messageOf(error)}`, { cause: error })
  }
  return error
}

/** The same while the store is being opened: there the operator is listening. */
export function toOpenError(error: unknown, file: string): unknown {
  switch (resultCode(error)) {
    case resultCodes.notADatabase:
    case resultCodes.corrupt:
      return new StoreOpenError(
        'not-a-database',
        `${file} is not a SQLite database, or is damaged: name another file, or put back a backup`,
        error,
      )
    case resultCodes.full:
      return new StoreOpenError('full', `the disk of ${file} is full: make room and start again`, error)
    case resultCodes.cantOpen:
    case resultCodes.readOnly:
    case resultCodes.inputOutput:
      return unusablePath(file, error)
    default:
      return error
  }
}

export function fileGone(file: string): StoreUnavailableError {
  return new StoreUnavailableError(
    `${file} was deleted or replaced while this broker uses it: nothing is accepted any more. Put the file back, or stop the broker, put back a backup and start again`,
  )
}

export function unusablePath(file: string, cause: unknown): StoreOpenError {
  return new StoreOpenError(
    'unusable-path',
    `${file} cannot be opened for writing (${messageOf(cause)}): name a file in a folder that this user may write to`,
    cause,
  )
}

const unavailable: Record<number, string> = {
  [resultCodes.full]: 'the disk is full. Nothing that was accepted is lost; make room, and it works again',
  [resultCodes.inputOutput]: 'the disk does not read or write. Look at the disk and the limits of this process',
  [resultCodes.readOnly]: 'the file became read-only. Give this user the right to write to it and its folder',
  [resultCodes.cantOpen]: 'a file beside the database cannot be opened. Look at the folder and the limit of open files',
  [resultCodes.corrupt]: 'the file is damaged. Put back a backup',
  [resultCodes.notADatabase]: 'the file was overwritten. Put back a backup',
  [resultCodes.busy]: 'another program holds it. Stop that program',
  [resultCodes.noMemory]: 'there is not enough memory',
}
