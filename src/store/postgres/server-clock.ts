import type { Clock } from '../../clock.ts'

export type ServerClock = ReturnType<typeof createServerClock>

/** What this process knows of the database's clock without asking it. */
export function createServerClock(clock: Clock) {
  let latest: { readonly now: number; readonly heardAt: number } | undefined
  return {
    /** The database has just answered, and said that it was this time. */
    learn(now: number) {
      latest = { now, heardAt: clock.now() }
    },
    /** This process's own, to see how long something took. */
    local: () => clock.now(),
    /** Never later than it is there, as long as both clocks go; undefined before the first answer. */
    now() {
      if (latest === undefined) return undefined
      // The answer was on its way for a while, and of two times in whole milliseconds up to one is missing between them.
      return latest.now + Math.max(0, clock.now() - latest.heardAt - 1)
    },
  }
}
