import type { Clock } from '../../clock.ts'
import { noInstance } from '../../domain/operator.ts'
import { type RefusedSignIn, RefusedSignIns } from '../../domain/refused-sign-ins.ts'
import type { Store } from '../../store.ts'

/** So long refusals are only counted. */
const period = 60_000

export interface KeptRefusals {
  /** Costs no more than a look into a table: it is for whoever floods the broker with wrong passwords. */
  count(refused: RefusedSignIn): void
  /** Writes what is counted. */
  stop(): Promise<void>
}

export interface KeepingRefusals {
  readonly store: Pick<Store, 'accept'>
  readonly clock: Clock
  readonly storeNow: () => number
}

/**
 * Writes into the history which sign-ins this process has refused: a minute after the first of them, and all of that minute in
 * one transaction. No request waits for it, and a flood costs no more writes than a few.
 */
export function keepRefusedSignIns({ store, clock, storeNow }: KeepingRefusals): KeptRefusals {
  let counted = new RefusedSignIns()
  let cancel: (() => void) | undefined
  let writing = Promise.resolve()

  function wait(): void {
    cancel ??= clock.after(period, () => {
      cancel = undefined
      writing = writing.then(write)
    })
  }

  async function write(): Promise<void> {
    const told = counted
    if (told.isEmpty) return
    counted = new RefusedSignIns()
    try {
      await store.accept({ instanceId: noInstance }, ({ now }) => ({
        answer: undefined,
        change: { history: told.toLines(now) },
      }))
    } catch {
      // The store is not there: that is told elsewhere. Rather twice than never, where only its answer was lost.
      counted.take(told)
      wait()
    }
  }

  return {
    count(refused) {
      counted.count(refused, storeNow())
      wait()
    },
    async stop() {
      await writing.then(write)
      cancel?.()
    },
  }
}
