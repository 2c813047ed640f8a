import type { Clock } from '../clock.ts'
import type { BrokerEvents } from '../events.ts'

/** So long after a look at the clock the next one is due, in milliseconds. */
const lookEvery = 50

/**
 * The time on the log's clock at which a request has ended. To look at a clock takes a third as long as to write the line, and the broker
 * has just looked at its own one. What lies between the two is looked up now and then.
 */
export function createEndTime(clock: Clock): (request: BrokerEvents['request.ended']) => number {
  let lookedAt = Number.NaN
  let ahead = 0
  return ({ startedAt, durationMs }) => {
    const endedAt = startedAt + durationMs
    const passed = endedAt - lookedAt
    if (passed >= 0 && passed < lookEvery) return endedAt + ahead
    const now = clock.now()
    lookedAt = endedAt
    ahead = now - endedAt
    return now
  }
}
