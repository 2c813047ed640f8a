import type { Clock } from '../clock.ts'
import { sleep } from '../clock.ts'
import { isActive, type Operation } from '../domain/operation.ts'
import type { Reads } from '../reads.ts'
import type { WakeUpSource } from '../store.ts'

/** How long a waiting request may miss a wake-up (the operation ended on another replica, say). */
const lookAgainAfter = 1_000

/**
 * Waits for an operation to end: undefined if it has not within `timeout`, or when `signal` is aborted; `gone` where the
 * ledger has no such operation (any more).
 */
export async function awaitOperation(
  id: string,
  options: {
    readonly store: Pick<Reads, 'operation'> & WakeUpSource
    readonly clock: Clock
    readonly timeout: number
    readonly signal: AbortSignal
  },
): Promise<Operation | 'gone' | undefined> {
  const { store, clock, signal } = options
  const deadline = clock.now() + options.timeout
  let wake = new AbortController()
  const stopListening = store.onWakeUp(wakeUp => {
    if (wakeUp.type === 'finished' && wakeUp.operationId === id) wake.abort('finished')
  })
  const onAbort = () => wake.abort()
  signal.addEventListener('abort', onAbort)
  try {
    while (true) {
      const operation = await store.operation(id)
      if (operation === undefined) return 'gone'
      if (!isActive(operation)) return operation
      const left = deadline - clock.now()
      if (left <= 0 || signal.aborted) return undefined
      await sleep(clock, Math.min(left, lookAgainAfter), wake.signal)
      if (wake.signal.aborted && !signal.aborted) wake = new AbortController()
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    stopListening()
  }
}
