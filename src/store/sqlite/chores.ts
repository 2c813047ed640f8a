import type { Chore, ChoreLease, ChoreResult, ChoreTaking } from '../../store.ts'
import { toChore } from '../columns.ts'
import type { Statements } from './statements.ts'

export function takeChore(statements: Statements, taking: ChoreTaking, now: number): ChoreLease | undefined {
  const { name, dueAt, owner, leaseTime } = taking
  if (dueAt > now) return undefined
  const row = statements.takeChore.get(name, dueAt, owner, now, now + leaseTime)
  return row === undefined ? undefined : { name, fence: Number(row.fence) }
}

export function finishChore(statements: Statements, lease: ChoreLease, result: ChoreResult, now: number): boolean {
  return statements.finishChore.run(now, JSON.stringify(result), lease.name, lease.fence) > 0
}

export function readChores(statements: Statements): readonly Chore[] {
  return statements.chores.all().map(toChore)
}
