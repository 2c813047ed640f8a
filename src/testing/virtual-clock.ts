import type { Clock } from '../clock.ts'

export interface VirtualClock extends Clock {
  /** Moves time on, calling what is due in the order of its time, and lets everything that follows from it happen. */
  advance(ms: number): Promise<void>
  /** How many timers wait. */
  pending(): number
}

/** A clock that stands still until a test moves it. */
export function createVirtualClock(start: number = Date.UTC(2026, 0, 1)): VirtualClock {
  const timers = new Set<Timer>()
  let now = start

  return {
    now: () => now,
    after(ms, callback) {
      const timer = { at: now + Math.max(0, ms), callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      const end = now + ms
      await settle()
      for (let timer = earliest(timers, end); timer !== undefined; timer = earliest(timers, end)) {
        timers.delete(timer)
        now = Math.max(now, timer.at)
        timer.callback()
        await settle()
      }
      now = Math.max(now, end)
      await settle()
    },
    pending: () => timers.size,
  }
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** The first of those that are due by `end`; of equal ones the one that was set first. */
function earliest(timers: Iterable<Timer>, end: number): Timer | undefined {
  let first: Timer | undefined
  for (const timer of timers) {
    if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer
  }
  return first
}

/** Several turns of the event loop: a store that gathers its writes needs one for each write of a chain. */
const turns = 8

async function settle(): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise(resolve => setImmediate(resolve))
}
