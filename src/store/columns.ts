/** What the stores in SQL databases read and write alike. */
import { withoutUndefined } from '../protocol/json.ts'
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

/** What is JSON in its column; undefined where the column is null. */
export function fromText(value: unknown) {
  return value === null ? undefined : JSON.parse(text(value))
}

export function toChore(row: Row): Chore {
  return withoutUndefined({
    name: text(row.name),
    dueAt: Number(row.due_at),
    owner: text(row.owner),
    startedAt: Number(row.started_at),
    fence: Number(row.fence),
    leaseUntil: row.lease_until === null ? undefined : Number(row.lease_until),
    finishedAt: row.finished_at === null ? undefined : Number(row.finished_at),
    result: fromText(row.result),
  })
}
