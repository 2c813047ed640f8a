import type { OperationSummary } from '../../store.ts'
import type { AdminEndpoint } from './admin-app.ts'
import type { Message } from './streams.ts'
import { toBody } from './to-body.ts'

/** GET /admin/events: `operation` for each one that has changed, on any replica. A page that was away is told what it missed. */
export const followEventsEndpoint: AdminEndpoint = async ({ broker, streams, changes }, { headers }) => {
  const last = Number(headers['last-event-id'] ?? Number.NaN)
  const since = Number.isFinite(last) && last > 0 ? last : undefined
  return streams.answer(async function* (live) {
    const waiting: Message[] = []
    const put = (rows: readonly OperationSummary[], at: number) => {
      waiting.push(...rows.map(row => ({ event: 'operation', id: String(at), data: toBody(row) })))
      // A page that takes nothing off has to begin anew.
      if (waiting.length > mostWaiting) waiting.splice(0, waiting.length, { event: 'reset', id: String(at), data: {} })
      live.ring()
    }
    const stop = changes.listen(put)
    try {
      const now = broker.storeNow()
      yield { event: 'hello', id: String(since ?? now), data: toBody({ at: now }) }
      if (since !== undefined) put(await changes.since(since), now)
      while (!live.signal.aborted) {
        const message = waiting.shift()
        if (message === undefined) await live.pause(aWhile)
        else yield message
      }
    } finally {
      stop()
    }
  })
}

const aWhile = 60_000
const mostWaiting = 5_000
