import type { Chore } from '../../store.ts'
import { toChore } from '../columns.ts'
import type { SqlRow } from './driver.ts'

/** One row for each chore; a single one without a name where there is none. */
export function toChores(rows: readonly SqlRow[]): { readonly now: number; readonly chores: readonly Chore[] } {
  return { now: Number(rows[0]?.now), chores: rows.filter(row => row.name !== null).map(toChore) }
}
