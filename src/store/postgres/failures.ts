/**
 * What the errors of the driver mean to those who use the store. None is passed on as it is: what the server says about a
 * failed statement may hold the values of the row.
 */
import { StoreOpenError, type StoreOpenFailure, StoreUnavailableError } from '../../store.ts'
import { noteConflict } from '../notes.ts'
import { revisionGone } from '../pins.ts'

/** A standby, or a primary that was told not to write. */
export class ReadOnlyServerError extends Error {}

/** The server took the transaction back so that others can go on: nothing of it was done, and it can be tried again. */
export class TakenBackError extends StoreUnavailableError {}

export function toStoreError(error: unknown, name: string): Error {
  if (error instanceof ReadOnlyServerError) return readOnly(name)
  const said = serverError(error)
  if (said === undefined)
    return new StoreUnavailableError(`${name} does not answer (${messageOf(error)}). What it accepted is not lost`)
  if (said.code === raised) return new Error(said.message)
  if (pinned.has(said.constraint ?? '')) return revisionGone()
  if (said.constraint === 'note_version') return noteConflict()
  if (said.code === deadlock || said.code === notSerializable)
    return new TakenBackError(`${name} cannot be used: others were always faster (${said.code})`)
  const reason = unavailable(said.code)
  if (reason !== undefined) return new StoreUnavailableError(`${name} cannot be used: ${reason} (${said.code})`)
  const rule = said.constraint === undefined ? '' : `, ${said.constraint}`
  return new Error(
    `the ledger refused a change: ${conditions[said.code] ?? 'the statement failed'} (${said.code}${rule})`,
  )
}

export function readOnly(name: string): StoreUnavailableError {
  return new StoreUnavailableError(`${name} is read-only: name the primary server`)
}

/** What to say of several servers, none of which could be used: what one of them answered, or why each did not. */
export function toOneError(errors: readonly unknown[]): unknown {
  return errors.length === 1 ? errors[0] : (errors.find(serverError) ?? new AggregateError(errors, ''))
}

/** The same while the store is being opened: there the operator is listening. */
export function toOpenError(error: unknown, name: string): unknown {
  if (error instanceof StoreOpenError) return error
  if (error instanceof ReadOnlyServerError)
    return new StoreOpenError('unsuitable-server', `${name} cannot be used: ${error.message}. Name the primary server`)
  const said = serverError(error)
  if (said === undefined)
    return new StoreOpenError(
      'unreachable',
      `${name} cannot be reached (${messageOf(error)}): look whether the server runs, at its address and at the network`,
    )
  const [failure, advice] = openFailures.find(([, , codes]) => codes.test(said.code)) ?? []
  if (failure === undefined)
    return new StoreOpenError('unsuitable-server', `${name} cannot be used: ${said.message} (${said.code})`)
  return new StoreOpenError(failure, `${name} cannot be used: ${said.message} (${said.code}). ${advice}`)
}

/** Whether the connection may be used again: the server answered, did not say good-bye, and can be written. */
export function isUsableAfter(error: unknown): boolean {
  const said = serverError(error)
  return said !== undefined && said.severity === 'ERROR' && said.code !== '25006'
}

const raised = 'P0001'
const deadlock = '40P01'
const notSerializable = '40001'
/** How an instance refers to its revisions. */
const pinned: ReadonlySet<string> = new Set(['instance_revision', 'instance_next_revision'])

/** Class 08 connection, 25006 a standby, 28 login, 3D and 3F gone, 40 to be repeated, 53 resources, 55P03 and 57 stopped, 58 system. */
function unavailable(code: string): string | undefined {
  if (code === '53100') return 'its disk is full. Nothing that was accepted is lost; make room, and it works again'
  if (code === '53300')
    return 'it has no free connections. Raise its max_connections, or lower the pool of each replica'
  if (code === '57014') return 'it did not finish a statement in time'
  if (code === '25006') return 'it is read-only. Name the primary server'
  if (/^28/.test(code)) return 'it refuses the login. Look at user and password'
  if (/^(08|3D|3F|40|53|57|58)/.test(code) || code === '55P03') return 'it stopped, or is overloaded'
  return undefined
}

const conditions: Record<string, string> = {
  '23503': 'a row that it refers to is not there',
  '23505': 'another active operation, or row, stands in its place',
  '22021': 'a text that PostgreSQL cannot hold',
}

const openFailures: readonly (readonly [failure: StoreOpenFailure, advice: string, codes: RegExp])[] = [
  ['refused', 'Look at the user, the password and the pg_hba.conf of the server', /^28/],
  ['refused', 'Create the database, or name another one', /^3D/],
  ['no-rights', 'Give the user the right to create the schema, or run the pending migrations as its owner', /^42501$/],
  ['unsuitable-server', 'Let the pooler ignore them (PgBouncer: ignore_startup_parameters = options)', /^08P01$/],
  ['unreachable', 'Start again when it is up, or has room', /^(08|53|57)/],
]

interface ServerError {
  readonly severity: string
  readonly code: string
  readonly message: string
  readonly constraint?: string
}

function serverError(error: unknown): ServerError | undefined {
  if (!(error instanceof Error)) return undefined
  const { severity, code } = error as { severity?: unknown; code?: unknown }
  return typeof severity === 'string' && typeof code === 'string' ? (error as Error & ServerError) : undefined
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A host with several addresses: one error for each, and none of its own.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ')
  return error.message
}
