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

/** The machine's clock. Its timers do not keep the process alive: what serves does. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, longestTimer))
    timer.unref()
    return () => clearTimeout(timer)
  },
}

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
