import { randomUUID } from 'node:crypto'
import type { LedgerRow, LedgerRows } from '../../moving.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Store } from '../../store.ts'
import { createChecksum, formatName, formatVersion, type Header, kindOf, type Line } from './format.ts'

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
  { moving, name }: Pick<Store, 'moving' | 'name'>,
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
  const header: Header = { format: formatName, version: formatVersion, id: randomUUID(), at, from: name, secrets }
  await write(toText({ header }))
  await moving.exportRows(async (some, total) => {
    const texts = some.map(row => {
      const kind = kindOf(row)
      counts[kind] = (counts[kind] ?? 0) + 1
      return toText(secrets ? row : withoutSealed(row))
    })
    rows += some.length
    await write(`${texts.join('')}${toText({ check: checksum.now() })}`)
    onProgress?.(rows, total)
  })
  await write(toText({ end: { counts, sha256: checksum.now() } }))
}

const sealed: Partial<Readonly<Record<keyof LedgerRows, readonly string[]>>> = {
  instance: ['parameters', 'state', 'dashboardToken'],
  binding: ['parameters', 'state', 'result'],
  operation: ['input'],
  step: ['output'],
}

function withoutSealed(row: LedgerRow): object {
  const kind = kindOf(row)
  const kept = Object.entries(Object.values(row)[0]).filter(([key]) => !sealed[kind]?.includes(key))
  return { [kind]: Object.fromEntries(kept) }
}
