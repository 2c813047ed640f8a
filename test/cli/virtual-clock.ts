import type { Clock } from '../../src/clock.ts'

export interface VirtualClock extends Clock {
  /** Every wait that ran out, in milliseconds. */
  readonly waits: readonly number[]
}

/** Nobody waits on it: the earliest timer fires as soon as the process is idle, and the time jumps to it. */
export function createVirtualClock(begin = 1_000_000): VirtualClock {
  let now = begin
  let scheduled = false
  const timers = new Set<{ at: number; ms: number; callback: () => void }>()
  const waits: number[] = []
  const fireNext = () => {
    scheduled = false
    const next = [...timers].sort((a, b) => a.at - b.at)[0]
    if (next === undefined) return
    timers.delete(next)
    now = Math.max(now, next.at)
    waits.push(next.ms)
    next.callback()
    schedule()
  }
  const schedule = () => {
    if (scheduled || timers.size === 0) return
    scheduled = true
    setImmediate(fireNext)
  }
  return {
    waits,
    now: () => now,
    after(ms, callback) {
      const timer = { at: now + ms, ms, callback }
      timers.add(timer)
      schedule()
      return () => timers.delete(timer)
    },
  }
}
