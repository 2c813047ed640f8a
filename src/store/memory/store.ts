import { type Clock, systemClock } from '../../clock.ts'
import type { Keyring } from '../../sealing.ts'
import type { KnownRows, Store, WakeUp } from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { createWakeUps } from '../wake-ups.ts'
import { accept, finish } from './accept.ts'
import { putBulletin, readBulletins } from './bulletins.ts'
import { createChain } from './chain.ts'
import { finishChore, readChores, renewChore, takeChore } from './chores.ts'
import { claimDue } from './claim.ts'
import { cleanUp } from './clean-up.ts'
import { countInstances, listActs, listBindings, listInstances, listOperations } from './lists.ts'
import { changeCatalog, readCatalog, readRegistries, readUses } from './marketplace.ts'
import { createMoving } from './moving.ts'
import { releaseName, renewName, takeName } from './names.ts'
import { forgetNotes, readNotes, writeNotes } from './notes.ts'
import { handBack, park, renew, writeCheckpoint } from './progress.ts'
import { purge } from './purge.ts'
import { readPlatforms, readPlatformUse } from './quota.ts'
import { readBacklog, readBindings, readClaimants, readDueForExpiry, readDueForObservation } from './reads.ts'
import { share } from './share.ts'
import { readFailures, readSurvey } from './survey.ts'
import { pair, Tables } from './tables.ts'

export interface MemoryStoreOptions {
  readonly clock?: Clock
  /** For exports. What is in the memory of a process is not encrypted: the key would be beside it. */
  readonly keyring?: Keyring
}

/** Every method runs to its end in one turn, so each is a transaction without a lock. */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const { clock = systemClock, keyring } = options
  const tables = new Tables()
  const wakeUps = createWakeUps()
  let open = true

  /** The one way in: refuses after close, takes back what a throw left half done, wakes afterwards. */
  async function run<Result>(body: (now: number, wake: WakeUp[]) => Result): Promise<Result> {
    if (!open) throw new StoreUnavailableError('the memory store is closed')
    const wake: WakeUp[] = []
    const result = tables.transaction(() => body(clock.now(), wake))
    wakeUps.send(wake)
    return result
  }

  const known: KnownRows = {
    instance: id => (open ? tables.instances.get(id) : undefined),
    binding: (instanceId, id) => (open ? tables.binding(instanceId, id) : undefined),
    operation: id => (open ? tables.operations.get(id) : undefined),
  }

  return {
    name: 'memory:',
    known,
    sealing: { keyring, uses: async () => [], sealAgain: async () => ({ sealed: 0 }) },

    accept: (target, decide, taker) => run((now, wake) => accept({ tables, now, wake }, target, decide, taker)),
    finish: (lease, decide) => run((now, wake) => finish({ tables, now, wake }, lease, decide)),
    claim: (owner, max, leaseMs, leftOut) => run(now => claimDue(tables, { owner, max, leaseMs, now, leftOut })),
    renew: (leases, leaseMs) => run(now => renew(tables, leases, leaseMs, now)),
    checkpoint: (lease, checkpoint) => run(now => writeCheckpoint(tables, lease, checkpoint, now)),
    park: (lease, parking) =>
      run((_now, wake) => {
        const parked = park(tables, lease, parking)
        if (parked) wake.push({ type: 'work' })
        return parked
      }),
    handBack: lease =>
      run((now, wake) => {
        if (handBack(tables, lease, now)) wake.push({ type: 'work' })
      }),
    share: (lease, key, wish) => run(now => share(tables, { lease, key, wish, now })),

    takeName: taking => run(now => takeName(tables, taking, now)),
    renewName: (name, owner) => run(now => renewName(tables, name, owner, now)),
    releaseName: (name, owner) => run(now => releaseName(tables, name, owner, now)),

    takeChore: taking => run(now => takeChore(tables, taking, now)),
    renewChore: (lease, leaseMs) => run(now => renewChore(tables, lease, leaseMs, now)),
    finishChore: (lease, result) => run(now => finishChore(tables, lease, result, now)),
    chores: () => run(now => ({ now, chores: readChores(tables) })),
    putBulletin: bulletin => run(now => putBulletin(tables, bulletin, now)),
    bulletins: kind => run(now => ({ now, bulletins: readBulletins(tables, kind, now) })),
    cleanUp: wanted => run(now => cleanUp(tables, wanted, now)),
    purge: (before, max) => run(now => purge(tables, before, max, now)),
    dueForObservation: max => run(now => readDueForObservation(tables, max, now)),
    dueForExpiry: max => run(now => readDueForExpiry(tables, max, now)),

    catalog: known => run(() => readCatalog(tables, known)),
    registries: () => run(now => ({ now, ...readRegistries(tables) })),
    revisionUses: () => run(() => readUses(tables)),
    changeCatalog: (version, changes, report) =>
      run((now, wake) => {
        const { written, changed } = changeCatalog(tables, { version, changes, report }, now)
        if (changed) wake.push({ type: 'catalog' })
        return written
      }),

    note: (kind, id) => run(() => tables.notes.get(pair(kind, id))),
    notes: (kind, query) => run(() => readNotes(tables, kind, query)),
    writeNotes: writes => run(() => writeNotes(tables, writes)),
    forgetNotes: max => run(now => forgetNotes(tables, max, now)),

    instance: id => run(() => tables.instances.get(id)),
    binding: (instanceId, id) => run(() => tables.binding(instanceId, id)),
    bindings: instanceId => run(() => readBindings(tables, instanceId)),
    claimants: (key, most) => run(() => readClaimants(tables, key, most)),
    operation: id => run(() => tables.operations.get(id)),
    steps: operationId => run(() => tables.steps(operationId)),
    history: instanceId => run(() => tables.history(instanceId)),
    backlog: (most, leftOut) => run(now => readBacklog(tables, { most, now, leftOut })),
    platforms: () => run(() => readPlatforms(tables)),
    platformUse: platform => run(() => readPlatformUse(tables, platform)),
    instanceCounts: () => run(() => countInstances(tables)),
    failures: most => run(() => readFailures(tables, most)),
    survey: endedSince => run(now => readSurvey(tables, endedSince, now)),
    listActs: (query = {}) => run(() => listActs(tables, query)),
    listInstances: (query = {}) => run(() => listInstances(tables, query)),
    listBindings: (query = {}) => run(() => listBindings(tables, query)),
    listOperations: (query = {}) => run(() => listOperations(tables, query)),

    chain: createChain(tables, body => run(() => body())),
    moving: createMoving(tables, body => run(() => body())),
    ping: () => run(() => undefined),
    onWakeUp: listener => wakeUps.listen(listener),
    async close() {
      open = false
    },
  }
}
