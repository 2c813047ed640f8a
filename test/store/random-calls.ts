/** Random sequences of calls, and a player that makes them on a store, for comparing one store with another. */
import fc from 'fast-check'
import type { SharedWish } from '../../src/domain/shared-claim.ts'
import type { Binding, CatalogChanges, ChoreLease, CleanUp, Instance, Lease, Snapshot, Store } from '../../src/store.ts'
import { registryRow, revisionRow, serviceRow } from '../../src/testing/store-contract/catalog-rows.ts'
import {
  bindingRow,
  finish,
  instanceRow,
  operationRow,
  stepRow,
  supersede,
  view,
} from '../../src/testing/store-contract/rows.ts'

const instanceIds = ['i', 'j', 'k']
const leaseTime = 1000

/** Leases are named by their place in the list of all that were given, the latest first. */
type Call =
  | { type: 'provision' | 'supersede' | 'update'; instanceId: string; delay: number }
  | { type: 'bind' | 'unbind'; instanceId: string; bindingId: string }
  | { type: 'bury'; instanceId: string; unclean: number }
  | { type: 'refuse' | 'observe'; instanceId: string }
  | { type: 'claim'; max: number }
  | { type: 'renew' | 'finish' | 'forget' | 'handBack'; lease: number }
  | { type: 'checkpoint'; lease: number; step?: string; done: boolean; state?: number }
  | { type: 'park'; lease: number; delay: number; step?: string }
  | { type: 'share'; lease: number; key: string; wish: SharedWish }
  | { type: 'takeName'; owner: string; silence: number }
  | { type: 'renewName' | 'releaseName'; owner: string }
  | { type: 'takeChore'; name: string; late: number }
  | { type: 'renewChore' | 'finishChore'; lease: number }
  | { type: 'cleanUp'; of: CleanUp['of']; states: CleanUp['states']; age: number }
  | { type: 'purge'; age: number }
  | { type: 'pin'; instanceId: string; revisionId?: string; nextRevisionId?: string; planId: string }
  | { type: 'changeCatalog'; changes: CatalogChanges; report: boolean }

export interface Round {
  readonly calls: readonly Call[]
  /** How much time passes afterwards. */
  readonly pause: number
}

const instanceId = fc.constantFrom(...instanceIds)
const lease = fc.nat({ max: 8 })
const delay = fc.constantFrom(0, 1, 500, 2000)
const step = fc.constantFrom('one', 'two')
const owner = fc.constantFrom('w', 'v')
const claim = fc.record({ type: fc.constant('claim'), max: fc.nat({ max: 3 }) })
const serviceId = fc.constantFrom('s', 't')
const revisionId = fc.constantFrom('s1', 's2', 't1')
/** A revision belongs to one service, but for that anything goes. */
const changes = fc.record<CatalogChanges>({
  insertRevisions: fc.uniqueArray(revisionId).map(ids => ids.map(id => revisionRow(id, id.slice(0, 1)))),
  putServices: fc
    .uniqueArray(fc.tuple(revisionId, fc.boolean()), { selector: ([id]) => id.slice(0, 1), maxLength: 1 })
    .map(rows => rows.map(([id, retired]) => serviceRow(id.slice(0, 1), id, retired ? 5 : undefined))),
  deleteServices: fc.uniqueArray(serviceId),
  deleteRevisions: fc.uniqueArray(revisionId),
  putRegistries: fc.uniqueArray(serviceId).map(names => names.map(name => registryRow(name))),
  deleteRegistries: fc.uniqueArray(serviceId),
})
const call = fc.oneof(
  fc.record({ type: fc.constantFrom('provision', 'supersede', 'update'), instanceId, delay }),
  fc.record({ type: fc.constantFrom('bind', 'unbind'), instanceId, bindingId: fc.constantFrom('b', 'c') }),
  fc.record({ type: fc.constant('bury'), instanceId, unclean: fc.constantFrom(0, 0, 500) }),
  fc.record({ type: fc.constantFrom('refuse', 'observe'), instanceId }),
  claim,
  claim,
  fc.record({ type: fc.constantFrom('renew', 'finish', 'forget', 'handBack'), lease }),
  fc.record(
    { type: fc.constant('checkpoint'), lease, step, done: fc.boolean(), state: fc.nat() },
    { requiredKeys: ['type', 'lease', 'done'] },
  ),
  fc.record({ type: fc.constant('park'), lease, delay, step }, { requiredKeys: ['type', 'lease', 'delay'] }),
  fc.record({
    type: fc.constant('share'),
    lease,
    key: fc.constantFrom('x', 'y'),
    wish: fc.constantFrom('acquire', 'recreate', 'release', 'sweep', 'settle'),
  }),
  fc.record({ type: fc.constant('takeName'), owner, silence: delay }),
  fc.record({ type: fc.constantFrom('renewName', 'releaseName'), owner }),
  fc.record({ type: fc.constant('takeChore'), name: fc.constantFrom('sweep', 'observe'), late: delay }),
  fc.record({ type: fc.constantFrom('renewChore', 'finishChore'), lease: fc.nat({ max: 2 }) }),
  fc.record({
    type: fc.constant('cleanUp'),
    of: fc.constantFrom('instances', 'bindings'),
    states: fc.uniqueArray(fc.constantFrom('succeeded', 'failed', 'superseded'), { minLength: 1 }),
    age: delay,
  }),
  fc.record({ type: fc.constant('purge'), age: delay }),
  fc.record(
    { type: fc.constant('pin'), instanceId, revisionId, nextRevisionId: revisionId, planId: serviceId },
    { requiredKeys: ['type', 'instanceId', 'planId'] },
  ),
  fc.record({ type: fc.constant('changeCatalog'), changes, report: fc.boolean() }),
) as fc.Arbitrary<Call>

export const randomRounds: fc.Arbitrary<Round[]> = fc.array(
  fc.record({
    calls: fc.array(call, { minLength: 1, maxLength: 4 }),
    pause: fc.constantFrom(0, 1, 400, 1000, 2500),
  }),
  { maxLength: 25 },
)

export function createPlayer(store: Store, now: () => number) {
  const leases: Lease[] = []
  const chores: ChoreLease[] = []
  const operationIds = new Set<string>()
  const wakeUps: string[] = []
  let accepted = 0
  /** Of the catalog at the beginning of a round: what changes it a second time in one is refused. */
  let version = 0
  store.onWakeUp(wakeUp => wakeUps.push(JSON.stringify(wakeUp)))

  /** A fresh id for each accepted operation, the same on both stores since they are asked in the same order. */
  function newId(name: string): string {
    accepted += 1
    const id = `${name} ${accepted}`
    operationIds.add(id)
    return id
  }

  /** As a request does: a new row of the resource, and its operation, which becomes the latest one. */
  function put(
    target: { readonly instanceId: string; readonly bindingId?: string },
    action: 'provision' | 'bind',
    delay: number,
  ) {
    const { instanceId, bindingId } = target
    const lastOperationId = newId(action)
    const resource =
      bindingId === undefined
        ? { instance: instanceRow(instanceId, { lastOperationId }) }
        : { bindings: [bindingRow(instanceId, bindingId, { lastOperationId, ...expiryOf(accepted) })] }
    const input = { parameters: { of: lastOperationId } }
    const operation = operationRow(lastOperationId, instanceId, { action, ...target, input, notBefore: now() + delay })
    return store.accept(target, () => ({
      answer: lastOperationId,
      change: { ...resource, operations: [operation] },
    }))
  }

  const held = (index: number): Lease => leases.at(-1 - index) ?? { operationId: 'none', fence: 1 }

  async function perform(call: Call): Promise<unknown> {
    switch (call.type) {
      case 'provision':
        return put({ instanceId: call.instanceId }, 'provision', call.delay)
      case 'update': {
        const notBefore = now() + call.delay
        const operation = operationRow(newId('update'), call.instanceId, { action: 'update', notBefore })
        return store.accept({ instanceId: call.instanceId }, snapshot => {
          if (snapshot.operation !== undefined) return { answer: snapshot }
          const event = { at: snapshot.now, type: 'accepted', instanceId: call.instanceId } as const
          return { answer: snapshot, change: { operations: [operation], history: [event] } }
        })
      }
      case 'supersede':
        return supersede(store, call.instanceId, newId('delete'))
      case 'bind':
        return put({ instanceId: call.instanceId, bindingId: call.bindingId }, 'bind', 0)
      case 'unbind':
        return store.accept({ instanceId: call.instanceId, bindingId: call.bindingId }, ({ binding, now }) => ({
          answer: binding,
          ...(binding && { change: { bindings: [{ ...binding, phase: 'deleted', deletedAt: now }] } }),
        }))
      case 'bury':
        return store.accept({ instanceId: call.instanceId }, snapshot => ({
          answer: snapshot,
          ...(snapshot.instance && { change: { instance: tombstone(snapshot, snapshot.instance, call.unclean) } }),
        }))
      case 'refuse':
        return store.accept({ instanceId: call.instanceId }, () => {
          throw new Error('refused')
        })
      case 'observe':
        return store.accept({ instanceId: call.instanceId, bindingId: 'b', predecessorId: 'c' }, snapshot => ({
          answer: snapshot,
          ...(snapshot.instance && { change: { instance: { ...snapshot.instance, observeAt: snapshot.now } } }),
        }))
      case 'claim': {
        const result = await store.claim('w', call.max, leaseTime)
        for (const { operation } of result.claims) leases.push({ operationId: operation.id, fence: operation.fence })
        return result
      }
      case 'renew':
        return store.renew([held(call.lease), held(call.lease + 1)], leaseTime)
      case 'finish':
        return finish(store, held(call.lease))
      case 'forget':
        return store.finish(held(call.lease), ({ finishing }) => ({ deleteOperations: [finishing.id] }))
      case 'handBack':
        return store.handBack(held(call.lease))
      case 'checkpoint':
        return store.checkpoint(held(call.lease), {
          ...(call.step && { step: stepRow(call.step, { state: call.done ? 'done' : 'failed', output: call.state }) }),
          ...(call.state !== undefined && { state: { value: call.state }, description: `${call.state}` }),
        })
      case 'park':
        return store.park(held(call.lease), {
          until: now() + call.delay,
          ...(call.step && { step: stepRow(call.step, { state: 'failed' }) }),
        })
      case 'share':
        return store.share(held(call.lease), call.key, call.wish)
      case 'takeName':
        return store.takeName({ name: 'n', owner: call.owner, silence: call.silence })
      case 'renewName':
        return store.renewName('n', call.owner)
      case 'releaseName':
        return store.releaseName('n', call.owner)
      case 'takeChore': {
        const taken = await store.takeChore({ name: call.name, dueAt: now() - call.late, owner: 'w', leaseTime })
        if (taken !== undefined) chores.push(taken)
        return taken
      }
      case 'renewChore':
        return store.renewChore(chores.at(-1 - call.lease) ?? { name: 'none', fence: 1 }, leaseTime)
      case 'finishChore':
        return store.finishChore(chores.at(-1 - call.lease) ?? { name: 'none', fence: 1 }, { ok: true, message: 'm' })
      // All at once: which of two that ended at the same time goes first is not promised.
      case 'cleanUp':
        return store.cleanUp({ of: call.of, states: call.states, before: now() - call.age, max: 1000 })
      case 'purge':
        return store.purge(now() - call.age, 1000)
      case 'pin':
        return store.accept({ instanceId: call.instanceId }, ({ instance }) => ({
          answer: instance,
          ...(instance && { change: { instance: pinned(instance, call) } }),
        }))
      case 'changeCatalog':
        return store.changeCatalog(version, call.changes, ...(call.report ? [{ accepted }] : []))
    }
  }

  const outcome = (call: Call) =>
    perform(call).then(
      value => ({ value }),
      () => 'rejected',
    )

  async function learnVersion(): Promise<void> {
    version = (await store.catalog(version))?.version ?? version
  }

  return {
    /** One call after the other. Of an error only that it was one, since each store has its own words. */
    async play(calls: readonly Call[]): Promise<unknown[]> {
      const outcomes: unknown[] = []
      await learnVersion()
      for (const call of calls) outcomes.push(await outcome(call))
      return outcomes
    },
    /** Without waiting for one before the next is made, for stores that do them in that order all the same. */
    async playAtOnce(calls: readonly Call[]): Promise<unknown[]> {
      await learnVersion()
      return Promise.all(calls.map(outcome))
    },
    async everything(): Promise<unknown> {
      return {
        views: await Promise.all(instanceIds.map(id => view(store, id, ...operationIds))),
        steps: await Promise.all([...operationIds].map(id => store.steps(id))),
        observed: [...(await store.dueForObservation(10))].sort(),
        claimants: [...(await store.claimants('x', 10))].sort(),
        expiring: (await store.dueForExpiry(10)).map(({ instanceId, id }) => `${instanceId} ${id}`).sort(),
        wakeUps,
        chores: (await store.chores()).chores,
        catalog: await store.catalog(),
        registries: await store.registries(),
        uses: await store.revisionUses(),
        lists: await lists(store),
      }
    },
  }
}

/** In the order of ids: each store has an order of its own for rows of the same time. */
async function lists(store: Store): Promise<unknown> {
  const pages = [
    store.listInstances(),
    store.listInstances({ phase: 'deleted' }),
    store.listInstances({ revisionId: 's1' }),
    store.listInstances({ phase: 'ready', planId: 's' }),
    store.listBindings(),
    store.listBindings({ instanceId: 'i', phase: 'creating' }),
    store.listBindings({ by: 'expires', before: 1_000 }),
    store.listOperations(),
    ...(['queued', 'running', 'succeeded', 'failed', 'superseded'] as const).map(state =>
      store.listOperations({ state }),
    ),
    store.listOperations({ by: 'finished', of: { instanceId: 'i' } }),
  ]
  const found: readonly { items: readonly { id: string; instanceId?: string }[] }[] = await Promise.all(pages)
  const keyOf = (item: { id: string; instanceId?: string }) => `${item.instanceId} ${item.id}`
  return found.map(({ items }) => [...items].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)))
}

/** One of three expires, and one of those is looked at later. */
function expiryOf(number: number): Partial<Binding> {
  if (number % 3 > 0) return {}
  return { expiresAt: number * 10, noticeAt: number % 9 === 0 ? number * 20 : undefined }
}

function pinned(instance: Instance, { revisionId, nextRevisionId, planId }: Call & { type: 'pin' }): Instance {
  const { revisionId: _, nextRevisionId: __, ...row } = instance
  return { ...row, planId, ...(revisionId && { revisionId }), ...(nextRevisionId && { nextRevisionId }) }
}

/** Deleted, whoever may still be at work on it: a purge has to look. */
function tombstone({ now }: Snapshot, instance: Instance, unclean: number): Instance {
  return { ...instance, phase: 'deleted', deletedAt: now, ...(unclean > 0 && { uncleanUntil: now + unclean }) }
}
