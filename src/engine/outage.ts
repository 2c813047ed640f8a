import type { Clock } from '../clock.ts'
import { type Observer, toError } from '../observer.ts'

/**
 * What operators hear of a store that does not answer: one line when the first who asks gets no answer, and one when the
 * last of them gets one again. A store that can be read but not written is still in trouble.
 */
export interface Outage {
  /** A call that was sent at this time got no answer. */
  begin(who: string, error: unknown, sentAt: number): void
  end(who: string): void
}

export function createOutage(store: string, observer: Observer, clock: Clock): Outage {
  const waiting = new Set<string>()
  let since = 0
  let over = Number.NEGATIVE_INFINITY
  return {
    begin(who, error, sentAt) {
      if (waiting.size === 0) {
        // It was sent into the last outage, and says nothing about the time since.
        if (sentAt < over) return
        since = clock.now()
        observer['store.unavailable']?.({ store, error: toError(error) })
      }
      waiting.add(who)
    },
    end(who) {
      if (!waiting.delete(who) || waiting.size > 0) return
      over = clock.now()
      observer['store.available']?.({ store, outageMs: over - since })
    },
  }
}
