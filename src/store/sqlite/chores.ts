import type { Chore, ChoreLease, ChoreResult } from '../../store.ts'
import { toChore } from '../columns.ts'
import type { Statements } from './statements.ts'

export interface ChoreTaking {
  readonly name: string
  readonly dueAt: number
  readonly owner: string
  readonly leaseMs: number
  readonly now: number
}

export function takeChore(statements: Statements, taking: ChoreTaking): ChoreLease | undefined {
  const { name, dueAt, owner, leaseMs, now } = taking
  if (dueAt > now) return undefined
  const row = statements.takeChore.get(name, dueAt, owner, now, now + leaseMs)
  return row === undefined ? undefined : { name, fence: Number(row.fence) }
}

export function finishChore(statements: Statements, lease: ChoreLease, result: ChoreResult, now: number): boolean {
  return statements.finishChore.run(now, JSON.stringify(result), lease.name, lease.fence) > 0
}

export function readChores(statements: Statements): readonly Chore[] {
  return statements.chores.all().map(toChore)
}
