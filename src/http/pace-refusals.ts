import { type Clock, sleep } from '../clock.ts'
import { BrokerError } from '../protocol/errors.ts'

const perSecond = 500
/** So many at once are answered at once. */
const burst = 50
/** Shorter than any platform waits for an answer. */
const longestWait = 5_000

/**
 * Clients that ask again as soon as they are refused would keep a process busy with nothing but refusals, and whoever asks for
 * its health or polls would wait behind them. So refusals for want of room go out at a pace: a client that has to wait for one
 * asks for nothing meanwhile. Answers how long this one waits, if it does.
 */
export function createRefusalPace(clock: Clock, stopping?: AbortSignal): (error: unknown) => Promise<void> | undefined {
  let last = 0
  return error => {
    if (!(error instanceof BrokerError) || (error.code !== 'Overloaded' && error.code !== 'QueueTooLong')) return
    const now = clock.now()
    const earliest = now - (burst * 1000) / perSecond
    last = Math.min(Math.max(last, earliest) + 1000 / perSecond, now + longestWait)
    return last > now ? sleep(clock, last - now, stopping) : undefined
  }
}
