import { constants } from 'node:fs'
import { access, open, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { codeOf } from '../../shape/thrown.ts'
import { StoreOpenError } from '../../store.ts'
import { askQuickly, type StoreExam } from '../exam.ts'
import { unusablePath } from './failures.ts'
import { judgeHeader, migrations } from './migrations.ts'
import { readOwner } from './open.ts'

/**
 * Looks at the file without SQLite, which would lock it and make files beside it: a broker may be using it. What has come last may
 * stand only in the log beside it, so an old version says nothing while there is one.
 */
export async function examineSqlite(named: string): Promise<StoreExam> {
  const file = resolve(named)
  const { answer: header, latencyMs } = await askQuickly(() => readHeader(file))
  const known = migrations.length
  if (header === undefined) {
    await checkFolder(file)
    return { version: 0, known, latencyMs }
  }
  await access(file, constants.W_OK).catch(error => {
    throw unusablePath(file, error)
  })
  judgeHeader(file, header)
  const isSure = header.version === known || (await sizeOf(`${file}-wal`)) === 0
  return { version: isSure ? header.version : undefined, known, latencyMs, heldBy: readOwner(file) }
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}

/** Undefined where there is no such file. */
async function readHeader(file: string) {
  try {
    const handle = await open(file)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(headerSize), 0, headerSize, 0)
      return toHeader(file, buffer.subarray(0, bytesRead))
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error instanceof StoreOpenError ? error : unusablePath(file, error)
  }
}

/** The places are those of the file format: https://www.sqlite.org/fileformat.html */
const headerSize = 100

function toHeader(file: string, bytes: Buffer) {
  if (bytes.length === 0) return { owner: 0, version: 0, isEmpty: true }
  if (bytes.length < headerSize || bytes.subarray(0, 15).toString('latin1') !== 'SQLite format 3')
    throw new StoreOpenError(
      'not-a-database',
      `${file} is not a SQLite database, or is damaged: name another file, or put back a backup`,
    )
  // A file of one page has no table.
  return { owner: bytes.readUInt32BE(68), version: bytes.readUInt32BE(60), isEmpty: bytes.readUInt32BE(28) <= 1 }
}

/** The nearest folder that is there is where the missing ones would be made. */
async function checkFolder(file: string): Promise<void> {
  for (let folder = dirname(file); ; folder = dirname(folder))
    try {
      return await access(folder, constants.W_OK | constants.X_OK)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || folder === dirname(folder)) throw unusablePath(file, error)
    }
}
