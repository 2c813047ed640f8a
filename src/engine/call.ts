import type { Clock } from '../clock.ts'

/** What a call to the outside gets: everything it needs to be safe to repeat. */
export interface Call {
  /** Aborted when the call has used up its time, when the lease is lost, and when the process stops. */
  readonly signal: AbortSignal
  /** Rises with each holder: a backend that remembers the highest one it saw can refuse a stale call. */
  readonly fence: number
  /** The same on every retry of this step, and of no other. */
  readonly key: string
}

export class CallTimeout extends Error {
  override readonly name = 'CallTimeout'
}

/**
 * Runs `fn` and gives up waiting for it after `timeout` or when `signal` is aborted, whether `fn` listens or not: a
 * call that never returns must not hold the operation. What it may still do later is what fences and the sweep are for.
 */
export async function callWithDeadline<T>(
  fn: (call: Call) => T | Promise<T>,
  call: { readonly fence: number; readonly key: string },
  options: { readonly timeout: number; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<T> {
  const { timeout, signal, clock } = options
  signal.throwIfAborted()
  const own = new AbortController()
  let stopWaiting: (reason: unknown) => void = () => {}
  const stopped = new Promise<never>((_, reject) => {
    stopWaiting = reason => {
      own.abort(reason)
      reject(reason)
    }
  })
  const onAbort = () => stopWaiting(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const cancel = clock.after(timeout, () => stopWaiting(new CallTimeout(`no answer within ${timeout} ms`)))
  try {
    const work = Promise.resolve().then(() => fn({ ...call, signal: own.signal }))
    return await Promise.race([work, stopped])
  } finally {
    cancel()
    signal.removeEventListener('abort', onAbort)
  }
}
