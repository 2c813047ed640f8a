import { sleep } from '../../clock.ts'
import { toError } from '../../observer.ts'
import type { BrokerContext } from '../context.ts'
import type { RegisteredCatalog } from './registered-catalog.ts'

const lookEvery = 5_000

/**
 * Keeps this process's catalog up with the ledger's, whichever replica changes it. Wake-ups only shorten the wait, and a
 * look at what has not changed costs one small read. Stops with the process.
 */
export async function followCatalog(
  registered: RegisteredCatalog,
  { store, clock, observer, stopping }: BrokerContext,
): Promise<void> {
  let wake = new AbortController()
  const stop = () => wake.abort()
  const unsubscribe = store.onWakeUp(wakeUp => {
    if (wakeUp.type === 'catalog') wake.abort()
  })
  stopping.addEventListener('abort', stop, { once: true })
  let failing = false
  while (!stopping.aborted) {
    await sleep(clock, lookEvery, wake.signal)
    if (stopping.aborted) break
    wake = new AbortController()
    try {
      await registered.refresh()
      failing = false
    } catch (error) {
      if (!failing) observer['catalog.readFailed']?.({ error: toError(error) })
      failing = true
    }
  }
  unsubscribe()
}
