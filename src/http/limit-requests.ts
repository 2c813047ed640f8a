import type { Principal } from '../authenticator.ts'
import type { Observer } from '../observer.ts'
import { BrokerError } from '../protocol/errors.ts'

/** Counts the requests of each key by itself. */
export interface RequestThrottle {
  /** How many milliseconds until one more may come; 0 where it may now. */
  wait(key: string): number
  take(key: string): void
}

interface Sent {
  readonly requestId?: string | undefined
  readonly traceparent?: string | undefined
}

/**
 * Refuses what a principal sends too fast, before anything is done for it. All requests count the same, polls too: each of them
 * may cost a call of the store. One that is refused does not count, so whoever waits as told gets through.
 */
export function createRequestLimit(throttle: RequestThrottle | undefined, observer: Observer) {
  if (throttle === undefined) return () => {}
  return ({ name, platform }: Principal, { requestId, traceparent }: Sent): void => {
    const key = JSON.stringify([platform, name])
    const wait = throttle.wait(key)
    if (wait <= 0) {
      throttle.take(key)
      return
    }
    observer['request.limited']?.({ limit: 'rate', platform, principal: name, requestId, traceparent })
    throw new BrokerError('TooManyRequests', 'You have sent too many requests. Repeat this one later.', {
      retryAfter: Math.max(1, Math.ceil(wait / 1000)),
    })
  }
}
