import type { Chore, ChoreLease, ChoreResult, ChoreTaking } from '../../store.ts'
import { toChore } from '../columns.ts'
import type { Calls } from './database.ts'

export async function takeChore({ run, statements }: Calls, taking: ChoreTaking): Promise<ChoreLease | undefined> {
  const { name, dueAt, owner, leaseTime } = taking
  const [row] = await run(statements.takeChore, [name, dueAt, owner, leaseTime])
  return row && { name, fence: Number(row.fence) }
}

export async function renewChore({ run, statements }: Calls, lease: ChoreLease, leaseTime: number): Promise<boolean> {
  return (await run(statements.renewChore, [lease.name, lease.fence, leaseTime])).length > 0
}

export async function finishChore(
  { run, statements }: Calls,
  lease: ChoreLease,
  result: ChoreResult,
): Promise<boolean> {
  return (await run(statements.finishChore, [lease.name, lease.fence, JSON.stringify(result)])).length > 0
}

/** One row for each chore; a single one without a name where there is none. */
export async function readChores({ run, statements }: Calls) {
  const rows = await run(statements.chores, [])
  const chores: readonly Chore[] = rows.filter(row => row.name !== null).map(toChore)
  return { now: Number(rows[0]?.now), chores }
}
