import type { Chore } from '../upkeep.ts'

/** When a chore is to be run. Times are those of the store's clock. */
export interface Schedule {
  readonly pattern: string
  readonly timeZone: string
  /** The latest time at or before `now`, if there ever was one. */
  latest(now: number): number | undefined
  /** The first time after `now`. */
  next(now: number): number | undefined
}

/**
 * The period that a chore is to be taken for now, if there is one: the latest that nobody took (of several that were
 * missed, only that one), or the one whose holder is gone before it ended. A chore that never ran has missed nothing before
 * `since`, when this process began to look.
 */
export function findDuePeriod(
  schedule: Schedule | undefined,
  row: Chore | undefined,
  { now, since }: { readonly now: number; readonly since: number },
): number | undefined {
  if (row !== undefined && isHeld(row, now)) return undefined
  const latest = schedule?.latest(now)
  if (latest !== undefined && latest > (row?.dueAt ?? since)) return latest
  return row !== undefined && row.finishedAt === undefined ? row.dueAt : undefined
}

/** When there can be something to do for a chore, after what is due now: at its next time, or when its holder's lease ends. */
export function findNextLook(schedule: Schedule | undefined, row: Chore | undefined, now: number): number | undefined {
  if (row?.leaseUntil !== undefined && isHeld(row, now)) return row.leaseUntil
  return schedule?.next(now)
}

export function isHeld({ finishedAt, leaseUntil }: Chore, now: number): boolean {
  return finishedAt === undefined && leaseUntil !== undefined && leaseUntil > now
}
