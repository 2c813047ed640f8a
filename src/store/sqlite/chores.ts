import type { ChoreLease, ChoreTaking } from '../../store.ts'
import type { Statements } from './statements.ts'

export function takeChore(statements: Statements, taking: ChoreTaking, now: number): ChoreLease | undefined {
  const { name, dueAt, owner, leaseTime } = taking
  if (dueAt > now) return undefined
  const row = statements.takeChore.get(name, dueAt, owner, now, now + leaseTime)
  return row && { name, fence: Number(row.fence) }
}
