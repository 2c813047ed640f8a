import type { Clock } from '../../src/clock.ts'
import { type Checkpoint, type Store, StoreUnavailableError } from '../../src/store.ts'
import type { Gate } from './gate.ts'
import type { Random } from './random.ts'
import type { Trace } from './trace.ts'
import type { Weather } from './weather.ts'

/** The connection of one process to the store. */
export interface Link {
  readonly store: Store
  cut(): void
  mend(): void
}

export interface LinkOptions {
  readonly world: Clock
  readonly gate: Gate
  readonly random: Random
  readonly weather: () => Weather
  readonly trace: Trace
  readonly process: string
}

/** What a lost connection says; everything else that a process complains about is a defect. */
export const noConnection = 'the simulated store does not answer'

const timeoutMs = 2_000

/**
 * A message travels to the store, has its effect there at one moment, and another one travels back; each can be slow or
 * lost. What was sent arrives, also when its sender has died since.
 */
export function createLink(store: Store, options: LinkOptions): Link {
  const { world, gate, random, weather, trace, process } = options
  let isCut = false

  function travel(arrive: () => void): void {
    const { storeDelay, storeStall } = weather()
    const ms = random.chance(storeStall)
      ? random.between(30_000, 50_000)
      : random.chance(storeDelay)
        ? random.between(500, 12_000)
        : random.between(0, 20)
    world.after(ms, arrive)
  }

  function call<T>(name: string, effect: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (gate.isDead()) return
      const { storeFailure, storeDoubt } = weather()
      const fails = random.chance(storeFailure)
      const isDoubtful = random.chance(storeDoubt)
      const giveUp = () =>
        void world.after(timeoutMs, () => gate.deliver(() => reject(new StoreUnavailableError(noConnection))))
      const note = (outcome: string) => trace.add(`${process} ${name}: ${outcome}`)
      travel(() => {
        if (isCut || fails) {
          note('lost')
          return giveUp()
        }
        const answer = (outcome: string, settle: () => void) => {
          note(isDoubtful ? `${outcome}, answer lost` : outcome)
          if (isDoubtful) return giveUp()
          travel(() => (isCut ? giveUp() : gate.deliver(settle)))
        }
        effect().then(
          value => answer(describe(value), () => resolve(value)),
          error => answer(error instanceof Error ? error.name : 'error', () => reject(error)),
        )
      })
    })
  }

  return {
    store: wrap(store, call, (listener, wakeUp) => {
      if (isCut || gate.isDead() || random.chance(weather().lostWakeUp)) return
      world.after(random.between(0, 50), () => gate.deliver(() => listener(wakeUp)))
    }),
    cut() {
      isCut = true
    },
    mend() {
      isCut = false
    },
  }
}

/** Enough to see in a trace what was answered, and nothing that differs between two runs. */
function describe(value: unknown): string {
  if (typeof value === 'boolean' || value === undefined) return String(value)
  if (Array.isArray(value)) return String(value.length)
  return typeof value === 'object' && value !== null && 'claims' in value && Array.isArray(value.claims)
    ? String(value.claims.length)
    : 'ok'
}

/** Without the id of the sweep that the step belongs to, which is another one in each run. */
function nameOf({ step }: Checkpoint): string {
  return (step?.name ?? '').replace(/^\S+-sweep\S*: /, 'of the sweep before: ')
}

type Listener = Parameters<Store['onWakeUp']>[0]

function wrap(
  store: Store,
  call: <T>(name: string, effect: () => Promise<T>) => Promise<T>,
  tell: (listener: Listener, wakeUp: Parameters<Listener>[0]) => void,
): Store {
  return {
    name: store.name,
    accept: (target, decide, taker) =>
      call(`accept ${target.instanceId} ${target.bindingId ?? ''}`, () => store.accept(target, decide, taker)),
    claim: (owner, max, leaseMs, leftOut) => call('claim', () => store.claim(owner, max, leaseMs, leftOut)),
    renew: (leases, leaseMs) => call('renew', () => store.renew(leases, leaseMs)),
    checkpoint: (lease, checkpoint) =>
      call(`checkpoint ${lease.fence} ${nameOf(checkpoint)}`, () => store.checkpoint(lease, checkpoint)),
    park: (lease, parking) =>
      call(`park ${lease.fence} ${parking.description ?? ''}`, () => store.park(lease, parking)),
    finish: (lease, decide) => call(`finish ${lease.fence}`, () => store.finish(lease, decide)),
    handBack: lease => call(`hand back ${lease.fence}`, () => store.handBack(lease)),
    share: (lease, key, wish) => call(`share ${lease.fence} ${wish}`, () => store.share(lease, key, wish)),
    instance: id => call(`instance ${id}`, () => store.instance(id)),
    binding: (instanceId, id) => call(`binding ${id}`, () => store.binding(instanceId, id)),
    bindings: instanceId => call(`bindings ${instanceId}`, () => store.bindings(instanceId)),
    claimants: (key, most) => call('claimants', () => store.claimants(key, most)),
    operation: id => call('operation', () => store.operation(id)),
    steps: operationId => call('steps', () => store.steps(operationId)),
    dueForExpiry: max => call('dueForExpiry', () => store.dueForExpiry(max)),
    dueForObservation: max => call('dueForObservation', () => store.dueForObservation(max)),
    history: instanceId => call(`history ${instanceId}`, () => store.history(instanceId)),
    backlog: (most, leftOut) => call('backlog', () => store.backlog(most, leftOut)),
    platforms: () => call('platforms', () => store.platforms()),
    platformUse: platform => call('platformUse', () => store.platformUse(platform)),
    instanceCounts: () => call('instance counts', () => store.instanceCounts()),
    failures: most => call('failures', () => store.failures(most)),
    survey: endedSince => call('survey', () => store.survey(endedSince)),
    listActs: query => call('list acts', () => store.listActs(query)),
    listInstances: query => call('list instances', () => store.listInstances(query)),
    listBindings: query => call('list bindings', () => store.listBindings(query)),
    listOperations: query => call('list operations', () => store.listOperations(query)),
    takeName: taking => call(`take the name ${taking.name}`, () => store.takeName(taking)),
    renewName: (name, owner) => call(`renew the name ${name}`, () => store.renewName(name, owner)),
    releaseName: (name, owner) => call(`release the name ${name}`, () => store.releaseName(name, owner)),
    takeChore: taking => call(`take ${taking.name}`, () => store.takeChore(taking)),
    renewChore: (lease, leaseMs) => call(`renew ${lease.name}`, () => store.renewChore(lease, leaseMs)),
    finishChore: (lease, result) => call(`finish ${lease.name}`, () => store.finishChore(lease, result)),
    chores: () => call('chores', () => store.chores()),
    putBulletin: bulletin => call(`bulletin ${bulletin.kind}`, () => store.putBulletin(bulletin)),
    bulletins: kind => call(`bulletins ${kind}`, () => store.bulletins(kind)),
    cleanUp: cleanUp => call('clean up', () => store.cleanUp(cleanUp)),
    purge: (before, max) => call('purge', () => store.purge(before, max)),
    note: (kind, id) => call(`note ${kind}`, () => store.note(kind, id)),
    notes: (kind, query) => call(`notes ${kind}`, () => store.notes(kind, query)),
    writeNotes: writes => call('write notes', () => store.writeNotes(writes)),
    forgetNotes: max => call('forget notes', () => store.forgetNotes(max)),
    catalog: known => call('catalog', () => store.catalog(known)),
    registries: () => call('registries', () => store.registries()),
    revisionUses: () => call('revision uses', () => store.revisionUses()),
    changeCatalog: (version, changes, report) =>
      call(`change catalog ${version}`, () => store.changeCatalog(version, changes, report)),
    ping: () => call('ping', () => store.ping()),
    onWakeUp: listener => store.onWakeUp(wakeUp => tell(listener, wakeUp)),
    close: () => Promise.resolve(),
  }
}
