/**
 * Time, injected everywhere: nobody else reads the system's clock or sets a timer. Every duration that is a number, here and
 * elsewhere, has milliseconds.
 */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls back once after `ms`, unless the returned function is called first. */
  after(ms: number, callback: () => void): () => void
}

/** What the machine says the time is, jumps and all: for lines of a log, and beside the times of files. */
export const wallClock: Clock = {
  now: () => Date.now(),
  // Timers do not keep the process alive: what serves does.
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, longestTimer))
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** The machine's clock without its jumps: leases, deadlines and pauses go by it. */
export const systemClock: Clock = {
  now: createSteadyTime({ wall: () => Date.now(), elapsed: () => performance.now() }),
  after: wallClock.after,
}

/**
 * The wall's time, which never goes back. Where the wall jumps, it goes on as before and nears the wall by a tenth of the time
 * that passes: whoever waits until a time waits neither much longer nor much shorter.
 */
export function createSteadyTime({ wall, elapsed }: { wall(): number; elapsed(): number }): () => number {
  let seen = wall()
  let now = seen
  let at = elapsed()
  return () => {
    const shown = wall()
    // Every request and every step asks several times within a millisecond, and each look at a clock takes a while.
    if (shown !== seen) {
      seen = shown
      const passed = elapsed() - at
      at += passed
      const ahead = shown - now - passed
      if (Math.abs(ahead) < aJump) now = Math.max(now, shown)
      else now += passed + Math.sign(ahead) * (passed / 10)
    }
    return Math.floor(now)
  }
}

const aJump = 1_000

/** setTimeout fires at once beyond this; every caller looks at the time again when it wakes. */
const longestTimer = 2 ** 31 - 1

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise(resolve => {
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal?.addEventListener('abort', done, { once: true })
  })
}
