import type { Clock } from '../clock.ts'
import { sayDuration } from '../shape/duration.ts'
import { type Abortable, LazyAbort } from './lazy-abort.ts'

/** What a call to the outside gets: everything it needs to be safe to repeat. */
export interface Call {
  /** Aborted when the call has used up its time, when the lease is lost, and when the process stops. */
  readonly signal: AbortSignal
  /** Rises with each holder: a backend that remembers the highest one it saw can refuse a stale call. */
  readonly fence: number
  /** The same on every retry of this step, and of no other. */
  readonly key: string
}

/** A class: Node.js takes long to make an object that has a getter of its own. */
class CallTo implements Call {
  readonly fence: number
  readonly key: string
  readonly #own: LazyAbort

  constructor(fence: number, key: string, own: LazyAbort) {
    this.fence = fence
    this.key = key
    this.#own = own
  }

  get signal(): AbortSignal {
    return this.#own.signal
  }
}

export class CallTimeout extends Error {
  override readonly name = 'CallTimeout'
}

/**
 * Runs `fn` and gives up waiting for it after `timeout` or when `ending` is aborted, whether `fn` listens or not: a
 * call that never returns must not hold the operation. What it may still do later is what fences and the sweep are for.
 */
export function callWithDeadline<T>(
  fn: (call: Call) => T | Promise<T>,
  { fence, key }: Pick<Call, 'fence' | 'key'>,
  { timeout, ending, clock }: { readonly timeout: number; readonly ending: Abortable; readonly clock: Clock },
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (ending.aborted) throw ending.reason
    const own = new LazyAbort()
    const answer = fn(new CallTo(fence, key, own))
    // Who has answered at once needs no clock.
    if (!isThenable(answer)) return resolve(answer)
    const release = () => {
      cancel()
      stopListening()
    }
    const stopWaiting = (reason: unknown) => {
      release()
      own.abort(reason)
      reject(reason)
    }
    const stopListening = ending.onAbort(() => stopWaiting(ending.reason))
    const cancel = clock.after(timeout, () => stopWaiting(new CallTimeout(`no answer within ${sayDuration(timeout)}`)))
    if (ending.aborted) return stopWaiting(ending.reason)
    Promise.resolve(answer).then(
      value => {
        release()
        resolve(value)
      },
      error => {
        release()
        reject(error)
      },
    )
  })
}

/** Some libraries give what can be awaited and is no promise. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as Partial<PromiseLike<unknown>>).then === 'function'
  )
}
