import { type Clock, systemClock } from '../../src/clock.ts'

export function clockAhead(ms: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + ms }
}

/** Runs so many times as fast: whoever waits a while for one that is gone does not wait long. */
export function quickClock(speed: number): Clock {
  const began = systemClock.now()
  return {
    now: () => began + (systemClock.now() - began) * speed,
    after: (ms, callback) => systemClock.after(ms / speed, callback),
  }
}
