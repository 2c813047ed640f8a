import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { toError } from '../../observer.ts'
import type { BrokerContext } from '../context.ts'
import { exportLedger } from './export-ledger.ts'

/** The export of a broker that goes on meanwhile, as fast as it is read. It breaks off where the reader is gone or the store fails. */
export function streamExport({ store, clock, observer }: BrokerContext, secrets: boolean): Readable {
  const stream = new PassThrough()
  // Whoever sends it hears of it, too; until then nobody does.
  stream.on('error', () => {})
  const gone = new AbortController()
  stream.once('close', () => gone.abort())
  const write = async (text: string) => {
    if (!stream.write(text)) await once(stream, 'drain', { signal: gone.signal })
    gone.signal.throwIfAborted()
  }
  exportLedger(store, { secrets, now: clock.now(), write }).then(
    () => stream.end(),
    error => {
      if (!gone.signal.aborted) observer['request.failed']?.({ error: toError(error), status: 500 })
      stream.destroy(toError(error))
    },
  )
  return stream
}
