import type { VirtualClock } from '../../src/testing/virtual-clock.ts'

export interface Pace {
  /** Sets the clock of the database, where that is another one. */
  readonly move: (now: number) => Promise<unknown>
  /** Calls to the store that have not been answered. */
  readonly underWay: () => number
}

/** Virtual time over real servers: it stands still for as long as a call to one of them takes. */
export function createPacedClock({ move, underWay }: Pace): VirtualClock {
  const timers = new Set<Timer>()
  let now = Date.UTC(2026, 0, 1)

  async function moveTo(time: number): Promise<void> {
    if (time <= now) return
    now = time
    await move(now)
  }

  async function idle(): Promise<void> {
    for (let quiet = 0; quiet < quietTurns; quiet += 1) {
      if (underWay() > 0) {
        quiet = 0
        await new Promise(resolve => setTimeout(resolve, 1))
      } else await new Promise(resolve => setImmediate(resolve))
    }
  }

  return {
    now: () => now,
    after(ms, callback) {
      const timer = { at: now + Math.max(0, ms), callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      const end = now + ms
      await idle()
      for (let timer = earliest(timers, end); timer !== undefined; timer = earliest(timers, end)) {
        timers.delete(timer)
        await moveTo(timer.at)
        timer.callback()
        await idle()
      }
      await moveTo(end)
      await idle()
    },
    pending: () => timers.size,
  }
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** Turns of the event loop without a call, after which nothing more follows from the last one. */
const quietTurns = 8

function earliest(timers: Iterable<Timer>, end: number): Timer | undefined {
  let first: Timer | undefined
  for (const timer of timers) if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer
  return first
}

/** The same passing of time as `clock` has, read from a watch that is wrong by `ms`. */
export function skewed(clock: VirtualClock, ms: number): VirtualClock {
  return { ...clock, now: () => clock.now() + ms }
}
