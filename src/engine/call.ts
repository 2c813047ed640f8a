import type { Clock } from '../clock.ts'
import { sayDuration } from '../shape/duration.ts'

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
  call: Pick<Call, 'fence' | 'key'>,
  { timeout, signal, clock }: { readonly timeout: number; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<T> {
  signal.throwIfAborted()
  const own = new AbortController()
  let release = () => {}
  try {
    return await new Promise<T>((resolve, reject) => {
      const stopWaiting = (reason: unknown) => {
        own.abort(reason)
        reject(reason)
      }
      const onAbort = () => stopWaiting(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      const cancel = clock.after(timeout, () =>
        stopWaiting(new CallTimeout(`no answer within ${sayDuration(timeout)}`)),
      )
      release = () => {
        cancel()
        signal.removeEventListener('abort', onAbort)
      }
      Promise.resolve(fn({ ...call, signal: own.signal })).then(resolve, reject)
    })
  } finally {
    release()
  }
}
