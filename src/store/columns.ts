/** What the stores in SQL databases read and write alike. */
import type { Chore } from '../store.ts'

type Row = Readonly<Record<string, unknown>>

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a column that holds text holds none')
  return value
}

/** Authors' words go through JSON too: no database's text holds everything that a JavaScript string can. */
export function toText(words: string | undefined): string | null {
  return words === undefined ? null : JSON.stringify(words)
}

/** What may be absent from a row of the ledger is null in its column. */
export function present(key: string, value: unknown): object {
  return value === null ? {} : { [key]: value }
}

export function toChore(row: Row): Chore {
  return {
    name: text(row.name),
    dueAt: Number(row.due_at),
    owner: text(row.owner),
    startedAt: Number(row.started_at),
    fence: Number(row.fence),
    ...(row.lease_until === null ? {} : { leaseUntil: Number(row.lease_until) }),
    ...(row.finished_at === null ? {} : { finishedAt: Number(row.finished_at) }),
    ...(row.result === null ? {} : { result: JSON.parse(text(row.result)) }),
  }
}
