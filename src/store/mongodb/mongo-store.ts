import type { Collection } from 'mongodb'
import type { Clock } from '../../clock.ts'
import type { Store, WakeUp } from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { createWakeUps, wakeUpsOf } from '../wake-ups.ts'
import { readCatalog, readRegistries, readUses } from './catalog.ts'
import { applyChange } from './change.ts'
import { changeCatalog } from './change-catalog.ts'
import { followChanges, type Noted } from './change-stream.ts'
import { finishChore, readChores, renewChore, takeChore } from './chores.ts'
import { claimDue } from './claim.ts'
import { cleanUp } from './clean-up.ts'
import type { CatalogDocument, OperationDocument } from './documents.ts'
import { toStoreError } from './failures.ts'
import { keyOf } from './keys.ts'
import type { Ledger } from './ledger.ts'
import { listBindings, listInstances, listOperations } from './lists.ts'
import { handBack, heldBy, park, renew, writeCheckpoint } from './progress.ts'
import { purge } from './purge.ts'
import { toBinding, toHistory, toInstance, toOperation, toStep } from './rows.ts'
import { share } from './share.ts'
import { type ReadingTarget, readSnapshot } from './snapshot.ts'

export interface MongoStoreParts {
  readonly name: string
  readonly ledger: Ledger
  readonly clock: Clock
  readonly onStreamBreak: (error: unknown) => void
  /** Called once, with nothing under way. */
  readonly onClosed: () => Promise<void>
}

const work = { type: 'work' } as const
const catalog = { type: 'catalog' } as const

export function createMongoStore({ name, ledger, clock, onStreamBreak, onClosed }: MongoStoreParts): Store {
  const { collections, transactions, turns, now } = ledger
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
    const { storeId } = ledger
    const collection = notes as unknown as Collection<Noted>
    return followChanges({
      notes: collection,
      storeId,
      clock,
      onWakeUp: wakeUps.send,
      missed,
      onBreak: onStreamBreak,
    })
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
      run(() =>
        turns.take(instanceTurn(target.instanceId), async () => {
          const { instanceId, bindingId, predecessorId } = target
          const place: ReadingTarget = {
            instanceId,
            ...(bindingId === undefined ? {} : { bindingId }),
            ...(predecessorId === undefined ? {} : { predecessor: { id: predecessorId } }),
          }
          const { answer, change } = await transactions.run(async session => {
            const reading = await readSnapshot(ledger, session, place)
            const verdict = decide(reading.snapshot)
            if (verdict.change !== undefined) await applyChange(ledger, session, instanceId, reading, verdict.change)
            return verdict
          })
          if (change !== undefined) wakeUps.send(wakeUpsOf(change))
          return answer
        }),
      ),

    finish: (lease, decide) =>
      run(() =>
        turns.take(`operation ${lease.operationId}`, async () => {
          const held = heldBy(keyOf(lease.operationId), lease.fence)
          const known = await collections.operation.findOne(held, { projection: { steps: 0 } })
          if (known === null) return false
          const { instanceId, bindingId } = toOperation(known)
          const place: ReadingTarget =
            bindingId === undefined ? { instanceId } : { instanceId, bindingId, predecessor: 'its own' }
          return turns.take(instanceTurn(instanceId), async () => {
            const change = await transactions.run(async session => {
              const reading = await readSnapshot(ledger, session, place)
              const finishing = reading.operations.find(
                ({ id, fence, state }) => id === lease.operationId && fence === lease.fence && state === 'running',
              )
              if (finishing === undefined) return undefined
              const change = decide({ ...reading.snapshot, finishing })
              await applyChange(ledger, session, instanceId, reading, change)
              return change
            })
            if (change !== undefined) wakeUps.send(wakeUpsOf(change))
            return change !== undefined
          })
        }),
      ),

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

    instance: id =>
      run(async () => {
        const found = await collections.instance.findOne({ _id: keyOf(id) })
        return found === null ? undefined : toInstance(found)
      }),
    binding: (instanceId, id) =>
      run(async () => {
        const found = await collections.binding.findOne({ _id: keyOf(instanceId, id) })
        return found === null ? undefined : toBinding(found)
      }),
    bindings: instanceId =>
      run(async () => {
        const found = collections.binding.find({ instance: keyOf(instanceId), phase: { $ne: 'deleted' } })
        return (await found.sort({ seq: 1 }).toArray()).map(toBinding)
      }),
    operation: id =>
      run(async () => {
        const found = await collections.operation.findOne({ _id: keyOf(id) }, { projection: { steps: 0 } })
        return found === null ? undefined : toOperation(found)
      }),
    steps: operationId =>
      run(async () => {
        const found = await collections.operation.findOne({ _id: keyOf(operationId) }, { projection: { steps: 1 } })
        return found === null ? [] : found.steps.map(toStep)
      }),
    dueForObservation: max =>
      run(async () => {
        if (max <= 0) return []
        const due = collections.instance.find({ observeAt: { $exists: true }, $expr: { $lte: ['$observeAt', now()] } })
        const found = await due.sort({ observeAt: 1, seq: 1 }).limit(max).project<{ id: string }>({ id: 1 }).toArray()
        return found.map(({ id }) => id)
      }),
    history: instanceId =>
      run(async () => {
        const found = collections.history.find({ instance: keyOf(instanceId) })
        return (await found.sort({ instance: 1, lock: 1, place: 1 }).toArray()).map(toHistory)
      }),
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

function instanceTurn(id: string): string {
  return `instance ${id}`
}
