import { randomUUID } from 'node:crypto'
import { type LedgerRow, type LedgerRows, localNotes } from '../../moving.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Store } from '../../store.ts'
import { createChecksum, formatName, formatVersion, type Header, kindOf, type Line } from './format.ts'
import { placeOfLine, sealRow, withoutSealed } from './sealed-rows.ts'

export interface ExportOptions {
  /** With parameters, state, credentials and step outputs: without them it cannot be imported. */
  readonly secrets: boolean
  readonly now: number
  /** Ends when there is room for more. */
  write(text: string): Promise<void> | void
  /** How many rows have been written, of about how many. */
  onProgress?(rows: number, total: number): void
}

/** Writes the whole ledger as lines, as of one moment, with little of it in memory at a time. */
export async function exportLedger(
  { moving, name, sealing }: Pick<Store, 'moving' | 'name' | 'sealing'>,
  { secrets, now, write, onProgress }: ExportOptions,
): Promise<void> {
  if (moving === undefined)
    throw new BrokerError('VerbRefused', `${name} cannot be exported: it is a store of your own.`)
  const checksum = createChecksum()
  const counts: Partial<Record<keyof LedgerRows, number>> = {}
  let line = 0
  let rows = 0
  const toText = (content: object) => {
    line += 1
    const text = `${JSON.stringify({ line, ...content } as Line)}\n`
    checksum.add(text)
    return text
  }
  const at = new Date(now).toISOString()
  const keyring = secrets ? sealing?.keyring : undefined
  const id = randomUUID()
  const header: Header = {
    format: formatName,
    version: formatVersion,
    id,
    at,
    from: name,
    secrets,
    key: keyring?.current,
  }
  await write(toText({ header }))
  await moving.exportRows(async (some, total) => {
    const texts = some.filter(moves).map(row => {
      const kind = kindOf(row)
      counts[kind] = (counts[kind] ?? 0) + 1
      if (keyring !== undefined) return toText(sealRow(keyring, row, placeOfLine(id, line + 1)))
      return toText(secrets ? row : withoutSealed(row))
    })
    rows += some.length
    await write(`${texts.join('')}${toText({ check: checksum.now() })}`)
    onProgress?.(rows, total)
  })
  await write(toText({ end: { counts, sha256: checksum.now() } }))
}

function moves(row: LedgerRow): boolean {
  return !('note' in row && localNotes.includes(row.note.kind))
}
