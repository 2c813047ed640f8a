import type { ImportProgress, LedgerRow, LedgerRows } from '../../moving.ts'
import { isJsonObject, parseJson } from '../../protocol/json.ts'
import { count } from '../../shape/count.ts'
import { type Keyring, type SealedPlace, type Store, UnsealError } from '../../store.ts'
import { chainKind, moveEnds } from '../history/chain-note.ts'
import { type Counts, createChecksum, formatName, formatVersion, type Header, type Line } from './format.ts'
import { placeOfLine, unsealRow } from './sealed-rows.ts'

/** Why it cannot be imported, or not be gone on with: what is in the ledger up to that line stays. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}

export interface Imported {
  readonly counts: Counts
  /** The line that it went on after; 0 where it began. */
  readonly resumedAfter: number
}

/**
 * Reads an export into an empty ledger, or goes on where an import of the same one stopped. What stands between two checks is
 * written in one transaction, and only where the check is right: a file that is broken changes nothing from there on.
 */
export async function importLedger(
  { moving, name, sealing }: Pick<Store, 'moving' | 'name' | 'sealing'>,
  lines: AsyncIterable<string>,
  onProgress?: (rows: number) => void,
): Promise<Imported> {
  if (moving === undefined) throw new ImportError(`${name} takes no import: it is a store of your own`)
  const checksum = createChecksum()
  const counts: Partial<Record<keyof LedgerRows, number>> = {}
  let header: Header | undefined
  let resumedAfter = 0
  let rows: LedgerRow[] = []
  let number = 0
  let total = 0
  for await (const text of lines) {
    number += 1
    const line = parse(text, number)
    if (header === undefined) {
      header = readHeader(line)
      requireKey(header, sealing?.keyring)
      resumedAfter = await findStart(moving, name, header)
    } else if ('end' in line) {
      requireCheck(line.end.sha256 === checksum.now(), number)
      requireCounts(line.end.counts, counts, number)
      await moving.importRows(rows, undefined)
      onProgress?.(total)
      for await (const more of lines) refuse(number + 1, `there is more after the end: ${more.slice(0, 40)}`)
      return { counts, resumedAfter }
    } else if ('check' in line) {
      requireCheck(line.check === checksum.now(), number)
      const progress: ImportProgress = { id: header.id, line: number }
      if (number > resumedAfter) await moving.importRows(rows, progress)
      rows = []
      onProgress?.(total)
    } else {
      if ('header' in line) return refuse(number, 'it is a second header')
      const { line: _number, sealed, ...given } = line
      const row =
        sealed === undefined ? given : unsealLine(sealing?.keyring, given, sealed, placeOfLine(header.id, number))
      const [kind = ''] = Object.keys(row)
      if (!isKind(kind) || Object.keys(row).length !== 1)
        return refuse(number, `nobody knows rows of the kind "${kind}"`)
      counts[kind] = (counts[kind] ?? 0) + 1
      total += 1
      rows.push(toOwn(row as LedgerRow, sealing?.keyring, number))
    }
    checksum.add(`${text}\n`)
  }
  if (header === undefined) throw new ImportError('the file is empty')
  throw new ImportError(
    `the file ends after line ${number} without its last line: it is not complete. Give the whole of it: the import goes on where it stopped`,
  )
}

function parse(text: string, number: number): Line {
  const line = parseJson(text)
  if (isJsonObject(line) && line.line === number) return line as unknown as Line
  if (number === 1) throw new ImportError('line 1 is not the header of an export: this is another kind of file')
  return refuse(
    number,
    isJsonObject(line) ? `it has the number ${String(line.line)}: lines are missing` : 'it is not JSON',
  )
}

function readHeader(line: Line): Header {
  const header = 'header' in line ? line.header : undefined
  if (header?.format !== formatName)
    throw new ImportError('line 1 is not the header of an export: this is another kind of file')
  if (header.version !== formatVersion)
    throw new ImportError(
      `the export has version ${header.version} of its format, and this release reads ${formatVersion}: use the release that wrote it`,
    )
  if (!header.secrets)
    throw new ImportError(
      'it was exported without what is secret: it can be read, and is no ledger. Export it again with --with-secrets',
    )
  return header
}

function requireKey({ key }: Header, keyring: Keyring | undefined): void {
  if (key === undefined || keyring?.labels.includes(key)) return
  throw new ImportError(
    `it is encrypted with the key "${key}", which is not configured: add that key to encryption.keys, and import it again`,
  )
}

function unsealLine(keyring: Keyring | undefined, row: object, sealed: string, place: SealedPlace): object {
  try {
    if (keyring !== undefined) return unsealRow(keyring, row, sealed, place)
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
  }
  return refuse(Number(place.at(-1)), 'what is encrypted in it cannot be read with the keys that are configured')
}

/** The end of the chain of the history is proven with the keys of this ledger. */
function toOwn(row: LedgerRow, keyring: Keyring | undefined, number: number): LedgerRow {
  if (!('note' in row) || row.note.kind !== chainKind) return row
  const note = moveEnds(keyring, row.note)
  return note === undefined
    ? refuse(number, 'the end of the chain of the history was not written by a broker with the key: verify it first')
    : { note }
}

async function findStart(moving: NonNullable<Store['moving']>, name: string, { id }: Header): Promise<number> {
  const { empty, progress } = await moving.importState()
  if (progress?.id === id) return progress.line
  if (progress !== undefined)
    throw new ImportError(
      `an import of another export (${progress.id}) has begun in ${name} and has not ended: go on with that one, or empty the store`,
    )
  if (!empty) throw new ImportError(`${name} is not empty: an import goes only into a ledger that nobody has used`)
  return 0
}

function requireCheck(isRight: boolean, number: number): void {
  if (!isRight) refuse(number, 'the lines before it are not those that were exported')
}

function requireCounts(told: Counts, read: Counts, number: number): void {
  for (const kind of new Set([...Object.keys(told), ...Object.keys(read)]) as Set<keyof LedgerRows>)
    if (told[kind] !== read[kind])
      refuse(number, `it tells of ${count(told[kind] ?? 0, kind)}, and ${read[kind] ?? 0} came before it`)
}

const kinds = new Set<string>([
  'ledger',
  'revision',
  'service',
  'registry',
  'instance',
  'binding',
  'operation',
  'step',
  'shared',
  'claim',
  'chore',
  'history',
  'note',
] satisfies (keyof LedgerRows)[])

function isKind(kind: string): kind is keyof LedgerRows {
  return kinds.has(kind)
}

function refuse(number: number, why: string): never {
  throw new ImportError(`line ${number} cannot be used: ${why}. Nothing of it and after it was changed`)
}
