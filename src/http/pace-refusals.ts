import { type Clock, sleep } from '../clock.ts'
import { BrokerError } from '../protocol/errors.ts'

const perSecond = 200
/** So many at once are answered at once. */
const burst = 50
/** Shorter than any platform waits for an answer. */
const longestWait = 5_000

/** Those of one kind go at one pace, so that no flood of one kind delays the other. */
const kinds: ReadonlyMap<string, 'room' | 'client'> = new Map([
  ['Overloaded', 'room'],
  ['QueueTooLong', 'room'],
  ['TooManyLogins', 'client'],
  ['TooManyRequests', 'client'],
])

/**
 * Clients that ask again as soon as they are refused would keep a process busy with nothing but refusals, and whoever asks for
 * its health or polls would wait behind them. So refusals for want of room, and of clients that ask too often, go out at a pace: a
 * client that has to wait for one asks for nothing meanwhile. Answers how long this one waits, if it does.
 */
export function createRefusalPace(clock: Clock, stopping?: AbortSignal): (error: unknown) => Promise<void> | undefined {
  const last = { room: 0, client: 0 }
  return error => {
    const kind = error instanceof BrokerError ? kinds.get(error.code) : undefined
    if (kind === undefined) return
    const now = clock.now()
    const earliest = now - (burst * 1000) / perSecond
    const at = Math.min(Math.max(last[kind], earliest) + 1000 / perSecond, now + longestWait)
    last[kind] = at
    return at > now ? sleep(clock, at - now, stopping) : undefined
  }
}
