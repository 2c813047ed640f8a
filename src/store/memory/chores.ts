import { compareText } from '../../domain/catalog-state.ts'
import type { Chore, ChoreLease, ChoreResult, ChoreTaking } from '../../store.ts'
import type { Tables } from './tables.ts'

export function takeChore(tables: Tables, taking: ChoreTaking, now: number): ChoreLease | undefined {
  const { name, dueAt, owner, leaseTime } = taking
  const before = tables.chores.get(name)
  if (dueAt > now || (before !== undefined && !isOpen(before, dueAt, now))) return undefined
  const fence = (before?.fence ?? 0) + 1
  tables.chores.put(name, { name, dueAt, owner, startedAt: now, fence, leaseUntil: now + leaseTime })
  return { name, fence }
}

export function renewChore(tables: Tables, lease: ChoreLease, leaseTime: number, now: number): boolean {
  const chore = held(tables, lease)
  if (chore?.leaseUntil === undefined || chore.leaseUntil <= now) return false
  tables.chores.put(lease.name, { ...chore, leaseUntil: now + leaseTime })
  return true
}

export function finishChore(tables: Tables, lease: ChoreLease, result: ChoreResult, now: number): boolean {
  const chore = held(tables, lease)
  if (chore === undefined) return false
  const { leaseUntil: _, ...rest } = chore
  tables.chores.put(lease.name, { ...rest, finishedAt: now, result })
  return true
}

export function readChores(tables: Tables): readonly Chore[] {
  return [...tables.chores.all()].sort((one, other) => compareText(one.name, other.name))
}

/** A period that is over is taken once; one whose holder is gone is taken over, for itself or for a later one. */
function isOpen(before: Chore, dueAt: number, now: number): boolean {
  if (before.finishedAt !== undefined) return dueAt > before.dueAt
  return dueAt >= before.dueAt && (before.leaseUntil ?? 0) <= now
}

function held(tables: Tables, { name, fence }: ChoreLease): Chore | undefined {
  const chore = tables.chores.get(name)
  return chore?.fence === fence && chore.finishedAt === undefined ? chore : undefined
}
