import type { Chore } from '../../store.ts'
import type { SqlRow } from './driver.ts'
import { text } from './rows.ts'

/** One row for each chore; a single one without a name where there is none. */
export function toChores(rows: readonly SqlRow[]): { readonly now: number; readonly chores: readonly Chore[] } {
  return { now: Number(rows[0]?.now), chores: rows.filter(row => row.name !== null).map(toChore) }
}

function toChore(row: SqlRow): Chore {
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
