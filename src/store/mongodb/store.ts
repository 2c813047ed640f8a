import type { Collection } from 'mongodb'
import type { Clock } from '../../clock.ts'
import type { Store, WakeUp } from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { type Methods, runMethods } from '../methods.ts'
import { createWakeUps, wakeUpsOf } from '../wake-ups.ts'
import { accept, finish } from './accept.ts'
import { putBulletin, readBulletins } from './bulletins.ts'
import { createChain } from './chain.ts'
import { changeCatalog } from './change-catalog.ts'
import { followChanges, type Noted } from './change-stream.ts'
import { finishChore, readChores, renewChore, takeChore } from './chores.ts'
import { claimDue } from './claim.ts'
import { cleanUp } from './clean-up.ts'
import type { Database } from './database.ts'
import type { CatalogDocument, OperationDocument } from './documents.ts'
import { toStoreError } from './failures.ts'
import { keyOf } from './keys.ts'
import { countInstances, listActs, listBindings, listInstances, listOperations } from './lists.ts'
import { readCatalog, readRegistries, readUses } from './marketplace.ts'
import { createMoving } from './moving.ts'
import { releaseName, renewName, takeName } from './names.ts'
import { forgetNotes, readNote, readNotes, writeNotes } from './notes.ts'
import { handBack, park, renew, writeCheckpoint } from './progress.ts'
import { purge } from './purge.ts'
import { readPlatforms, readPlatformUse } from './quota.ts'
import { createReads, readBacklog, readDueForExpiry, readDueForObservation } from './reads.ts'
import { createSealing } from './seal-again.ts'
import { share } from './share.ts'
import { readFailures, readSurvey } from './survey.ts'

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

  const methods: Methods = {
    ...createReads(ledger),
    dueForObservation: max => readDueForObservation(ledger, max),
    platforms: () => readPlatforms(ledger),
    platformUse: platform => readPlatformUse(ledger, platform),
    dueForExpiry: max => readDueForExpiry(ledger, max),
    backlog: (most, leftOut) => readBacklog(ledger, most, leftOut),
    instanceCounts: () => countInstances(ledger),
    failures: most => readFailures(ledger, most),
    survey: endedSince => readSurvey(ledger, endedSince),
    listActs: (query = {}) => listActs(ledger, query),
    listInstances: (query = {}) => listInstances(ledger, query),
    listBindings: (query = {}) => listBindings(ledger, query),
    listOperations: (query = {}) => listOperations(ledger, query),

    async accept(target, decide) {
      const { answer, change } = await accept(ledger, target, decide)
      if (change !== undefined) wakeUps.send(wakeUpsOf(change))
      return answer
    },
    async finish(lease, decide) {
      const change = await finish(ledger, lease, decide)
      if (change !== undefined) wakeUps.send(wakeUpsOf(change))
      return change !== undefined
    },
    // Claims of one process wait for each other: they would all reach for the same operations.
    claim: (owner, max, leaseMs, leftOut) =>
      turns.take('claim', () => claimDue(ledger, { owner, max, leaseMs, leftOut })),
    renew: (leases, leaseMs) => renew(ledger, leases, leaseMs),
    checkpoint: (lease, checkpoint) => writeCheckpoint(ledger, lease, checkpoint),
    async park(lease, parking) {
      const parked = await park(ledger, lease, parking)
      if (parked) wakeUps.send([work])
      return parked
    },
    async handBack({ operationId, fence }) {
      if (await handBack(ledger, keyOf(operationId), fence)) wakeUps.send([work])
    },
    share: (lease, key, wish) => turns.take(`shared ${key}`, () => share(ledger, lease, key, wish)),

    takeName: taking => takeName(ledger, taking),
    renewName: (name, owner) => renewName(ledger, name, owner),
    releaseName: (name, owner) => releaseName(ledger, name, owner),

    takeChore: taking => takeChore(ledger, taking),
    renewChore: (lease, leaseMs) => renewChore(ledger, lease, leaseMs),
    finishChore: (lease, result) => finishChore(ledger, lease, result),
    chores: () => readChores(ledger),
    putBulletin: bulletin => putBulletin(ledger, bulletin),
    bulletins: kind => readBulletins(ledger, kind),
    // Those of one process wait for each other: they would all reach for the same rows.
    cleanUp: wanted => turns.take('clean-up', () => cleanUp(ledger, wanted)),
    purge: (before, max) => turns.take('purge', () => purge(ledger, before, max)),

    note: (kind, id) => readNote(ledger, kind, id),
    notes: (kind, query) => readNotes(ledger, kind, query),
    writeNotes: writes => writeNotes(ledger, writes),
    forgetNotes: max => forgetNotes(ledger, max),

    catalog: known => readCatalog(ledger, known),
    registries: () => readRegistries(ledger),
    revisionUses: () => readUses(ledger),
    // Those of one process wait for each other: one of a version is enough.
    changeCatalog: (version, changes, report) =>
      turns.take('catalog', async () => {
        const { written, changed } = await changeCatalog(ledger, version, changes, report)
        if (changed) wakeUps.send([catalog])
        return written
      }),

    async ping() {
      if ((await collections.meta.findOne({ _id: 'ledger' })) === null)
        throw new StoreUnavailableError(`${name} has no ledger any more: put back a backup`)
    },
  }

  const moving = createMoving(ledger)
  const sealing = createSealing(ledger)
  const chain = createChain(ledger)

  return {
    name,
    sealing: {
      ...sealing,
      uses: () => run(() => sealing.uses()),
      sealAgain: (from, max) => run(() => sealing.sealAgain(from, max)),
    },
    chain: {
      linked: (after, max) => run(() => chain.linked(after, max)),
      unlinked: max => run(() => chain.unlinked(max)),
      countUnlinked: () => run(() => chain.countUnlinked()),
      countStray: ends => run(() => chain.countStray(ends)),
      // Those of one process wait for each other: one of them is enough.
      link: (lines, note) => turns.take('chain', () => run(() => chain.link(lines, note))),
      drop: (upTo, note) => turns.take('chain', () => run(() => chain.drop(upTo, note))),
    },
    moving: {
      exportRows: take => run(() => moving.exportRows(take)),
      importState: () => run(() => moving.importState()),
      importRows: (rows, progress) => run(() => moving.importRows(rows, progress)),
    },
    ...runMethods(methods, method => run(async () => method())),
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
