import type { Collection } from 'mongodb'
import type { Clock } from '../../clock.ts'
import type { Store, WakeUp } from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { createWakeUps, wakeUpsOf } from '../wake-ups.ts'
import { accept, finish } from './accept.ts'
import { changeCatalog } from './change-catalog.ts'
import { followChanges, type Noted } from './change-stream.ts'
import { finishChore, readChores, renewChore, takeChore } from './chores.ts'
import { claimDue } from './claim.ts'
import { cleanUp } from './clean-up.ts'
import type { Database } from './database.ts'
import type { CatalogDocument, OperationDocument } from './documents.ts'
import { toStoreError } from './failures.ts'
import { keyOf } from './keys.ts'
import { listBindings, listInstances, listOperations } from './lists.ts'
import { readCatalog, readRegistries, readUses } from './marketplace.ts'
import { handBack, park, renew, writeCheckpoint } from './progress.ts'
import { purge } from './purge.ts'
import { createReads, readDueForObservation } from './reads.ts'
import { share } from './share.ts'

export interface MongoStoreParts {
  readonly name: string
  readonly ledger: Database
  readonly clock: Clock
  readonly onStreamBreak: (error: unknown) => void
  /** Called once, when nothing runs any more. */
  readonly onClosed: () => Promise<void>
}

const work = { type: 'work' } as const
const catalog = { type: 'catalog' } as const

export function createMongoStore({ name, ledger, clock, onStreamBreak, onClosed }: MongoStoreParts): Store {
  const { collections, turns } = ledger
  const reads = createReads(ledger)
  const wakeUps = createWakeUps()
  const underWay = new Set<Promise<unknown>>()
  let streams: readonly { stop(): Promise<void> }[] = []
  let closing: Promise<void> | undefined

  /** The one way in: refuses after close, and says in our words what the driver says in its own. */
  async function run<Result>(body: () => Promise<Result>): Promise<Result> {
    if (closing !== undefined) throw new StoreUnavailableError(`${name} is closed`)
    const running = body()
    underWay.add(running)
    try {
      return await running
    } catch (error) {
      throw toStoreError(error, name)
    } finally {
      underWay.delete(running)
    }
  }

  function follow(notes: Collection<OperationDocument> | Collection<CatalogDocument>, missed: WakeUp) {
    const followed = { notes: notes as unknown as Collection<Noted>, storeId: ledger.storeId, missed }
    return followChanges({ ...followed, clock, onWakeUp: wakeUps.send, onBreak: onStreamBreak })
  }

  async function close(): Promise<void> {
    await Promise.allSettled(underWay)
    const stopped = streams.map(stream => stream.stop())
    await onClosed()
    await Promise.all(stopped)
  }

  return {
    name,

    accept: (target, decide) =>
      run(async () => {
        const { answer, change } = await accept(ledger, target, decide)
        if (change !== undefined) wakeUps.send(wakeUpsOf(change))
        return answer
      }),
    finish: (lease, decide) =>
      run(async () => {
        const change = await finish(ledger, lease, decide)
        if (change !== undefined) wakeUps.send(wakeUpsOf(change))
        return change !== undefined
      }),
    // Claims of one process wait for each other: they would all reach for the same operations.
    claim: (owner, max, leaseMs) => run(() => turns.take('claim', () => claimDue(ledger, owner, max, leaseMs))),
    renew: (leases, leaseMs) => run(() => renew(ledger, leases, leaseMs)),
    checkpoint: (lease, checkpoint) => run(() => writeCheckpoint(ledger, lease, checkpoint)),
    park: (lease, parking) =>
      run(async () => {
        const parked = await park(ledger, lease, parking)
        if (parked) wakeUps.send([work])
        return parked
      }),
    handBack: ({ operationId, fence }) =>
      run(async () => {
        if (await handBack(ledger, keyOf(operationId), fence)) wakeUps.send([work])
      }),
    share: (lease, key, wish) => run(() => turns.take(`shared ${key}`, () => share(ledger, lease, key, wish))),

    instance: id => run(() => reads.instance(id)),
    binding: (instanceId, id) => run(() => reads.binding(instanceId, id)),
    bindings: instanceId => run(() => reads.bindings(instanceId)),
    operation: id => run(() => reads.operation(id)),
    steps: operationId => run(() => reads.steps(operationId)),
    history: instanceId => run(() => reads.history(instanceId)),
    dueForObservation: max => run(() => readDueForObservation(ledger, max)),
    listInstances: (query = {}) => run(() => listInstances(ledger, query)),
    listBindings: (query = {}) => run(() => listBindings(ledger, query)),
    listOperations: (query = {}) => run(() => listOperations(ledger, query)),

    takeChore: taking => run(() => takeChore(ledger, taking)),
    renewChore: (lease, leaseMs) => run(() => renewChore(ledger, lease, leaseMs)),
    finishChore: (lease, result) => run(() => finishChore(ledger, lease, result)),
    chores: () => run(() => readChores(ledger)),
    // Those of one process wait for each other: they would all reach for the same rows.
    cleanUp: wanted => run(() => turns.take('clean-up', () => cleanUp(ledger, wanted))),
    purge: (before, max) => run(() => turns.take('purge', () => purge(ledger, before, max))),

    catalog: known => run(() => readCatalog(ledger, known)),
    registries: () => run(() => readRegistries(ledger)),
    revisionUses: () => run(() => readUses(ledger)),
    // Those of one process wait for each other: one of a version is enough.
    changeCatalog: (version, changes, report) =>
      run(() =>
        turns.take('catalog', async () => {
          const { written, changed } = await changeCatalog(ledger, version, changes, report)
          if (changed) wakeUps.send([catalog])
          return written
        }),
      ),

    ping: () =>
      run(async () => {
        if ((await collections.meta.findOne({ _id: 'ledger' })) === null)
          throw new StoreUnavailableError(`${name} has no ledger any more: put back a backup`)
      }),
    onWakeUp(listener) {
      if (closing === undefined && streams.length === 0)
        streams = [follow(collections.operation, work), follow(collections.catalog, catalog)]
      return wakeUps.listen(listener)
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}
