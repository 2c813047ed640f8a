/** Looks at the ledger from outside, when the replicas have nothing more to do. */
import { systemClock } from '../../src/clock.ts'
import { openStore } from '../../src/running/open-store.ts'
import { readSettings } from '../../src/settings/settings.ts'
import type { Operation, Store } from '../../src/store.ts'
import type { Database } from './databases.ts'
import { pause } from './platforms.ts'
import type { Asked, LedgerInstance, Polled } from './record.ts'

export async function withLedger<T>(database: Database, look: (store: Store) => Promise<T>): Promise<T> {
  const { ledger } = readSettings({ ledger: { connectTimeout: '60s', statementTimeout: '60s' } })
  const store = await openStore(database.urlAt(database.ports), systemClock, { ledger })
  try {
    return await look(store)
  } finally {
    await store.close()
  }
}

/** Waits until nothing is active: no operation of a platform, and no sweep. Answers what never ends. */
export async function untilIdle(
  store: Store,
  instances: readonly string[],
  isOver: () => boolean,
): Promise<readonly string[]> {
  for (;;) {
    const busy = await Promise.all(instances.map(id => isBusy(store, id)))
    const left = instances.filter((_, index) => busy[index])
    if (left.length === 0) return []
    if (isOver()) return left.map(id => `${id} is still busy`)
    await pause(50)
  }
}

/** A decision that changes nothing sees what is active. */
function isBusy(store: Store, instanceId: string): Promise<boolean> {
  return store.accept({ instanceId }, ({ operation, busyBindings, sweptBindings }) => ({
    answer: operation !== undefined || busyBindings + sweptBindings > 0,
  }))
}

export async function readLedger(
  store: Store,
  events: ReadonlyMap<string, readonly (Asked | Polled)[]>,
): Promise<readonly LedgerInstance[]> {
  const found: LedgerInstance[] = []
  for (const [id, list] of events) {
    const row = await store.instance(id)
    if (row === undefined) continue
    const history = await store.history(id)
    const ids = new Set(
      [...history, ...list].flatMap(one => ('operationId' in one ? one.operationId : undefined) ?? []),
    )
    for (const { operation } of list) if (operation !== undefined) ids.add(operation)
    const operations: Operation[] = []
    for (const operationId of ids) {
      const operation = await store.operation(operationId)
      if (operation !== undefined) operations.push(operation)
    }
    found.push({ row, history, operations, bindings: await store.bindings(id) })
  }
  return found
}
