import type { Binding, Instance, Operation, Store } from '../../store.ts'
import { assert } from './assert.ts'
import {
  bindingRow,
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  operationRow,
  present,
  provision,
  snapshotOf,
  stepRow,
  view,
} from './rows.ts'
import { durableStoreCase, storeCase } from './subject.ts'

const ever = Number.MAX_SAFE_INTEGER

/** A deleted instance with a deleted binding, their operations and a line of history. */
function bury(store: Store, id: string, overrides: Partial<Instance> = {}, more: Partial<Binding> = {}): Promise<void> {
  const operation = (name: string, of: Partial<Operation> = {}) =>
    operationRow(`${id}:${name}`, id, { state: 'succeeded', finishedAt: 5, ...of })
  return store.accept({ instanceId: id }, () => ({
    answer: undefined,
    change: {
      instance: tombstone(id, overrides),
      bindings: [bindingRow(id, 'b', { phase: 'deleted', deletedAt: 5, ...more })],
      operations: [operation('provision'), operation('delete'), operation('bind', { bindingId: 'b' })],
      history: [{ at: 5, type: 'succeeded', instanceId: id }],
    },
  }))
}

function tombstone(id: string, overrides: Partial<Instance> = {}): Instance {
  return instanceRow(id, { phase: 'deleted', deletedAt: 10, lastOperationId: `${id}:delete`, ...overrides })
}

/** A live instance with one deleted binding for each of the times. */
function live(store: Store, id: string, ...deletedAt: readonly number[]): Promise<void> {
  return store.accept({ instanceId: id }, () => ({
    answer: undefined,
    change: {
      instance: instanceRow(id, { phase: 'ready' }),
      bindings: [
        bindingRow(id, 'live', { phase: 'ready' }),
        ...deletedAt.map(time => bindingRow(id, `b${time}`, { phase: 'deleted', deletedAt: time })),
      ],
      operations: [
        operationRow(`${id}:provision`, id, { state: 'succeeded', finishedAt: 1 }),
        operationRow(`${id}:live`, id, { state: 'succeeded', finishedAt: 1, bindingId: 'live' }),
        ...deletedAt.map(time =>
          operationRow(`${id}:b${time}`, id, { state: 'succeeded', finishedAt: 1, bindingId: `b${time}` }),
        ),
      ],
      history: [{ at: 1, type: 'succeeded', instanceId: id, bindingId: 'b' }],
    },
  }))
}

function viewOf(store: Store, id: string): Promise<unknown> {
  return view(store, id, `${id}:provision`, `${id}:delete`, `${id}:bind`, `${id}:live`)
}

async function leftOf(store: Store, ...ids: readonly string[]): Promise<readonly string[]> {
  const rows = await Promise.all(ids.map(id => store.instance(id)))
  return rows.flatMap(row => (row === undefined ? [] : [row.id]))
}

/** But for the history, which has a time of its own. */
const nothing = (id: string) => ({
  instance: undefined,
  bindings: [],
  history: [{ at: 5, type: 'succeeded', instanceId: id }],
  operations: Array(4).fill(undefined),
})

export const purgeCases = [
  storeCase(
    'purge: a deleted instance goes with everything that belongs to it, but for its history',
    async ({ store }) => {
      await bury(store, 'i')
      assert.equal(await store.purge(ever, 10), 1)
      assert.deepEqual(await viewOf(store, 'i'), nothing('i'))
      assert.equal(await store.binding('i', 'b'), undefined)
      const snapshot = await snapshotOf(store, { instanceId: 'i', bindingId: 'b' })
      assert.deepEqual(present({ ...snapshot, now: 0 }), { now: 0, liveBindings: 0, busyBindings: 0, sweptBindings: 0 })
      assert.equal(await store.purge(ever, 10), 0)
    },
  ),

  storeCase('purge: neighbours stay as they are', async ({ store }) => {
    await live(store, 'a', 50)
    await bury(store, 'b', { deletedAt: 30 })
    await bury(store, 'ab')
    const before = [await viewOf(store, 'a'), await store.binding('a', 'b50'), await viewOf(store, 'b')]
    assert.equal(await store.purge(20, 10), 1)
    assert.deepEqual([await viewOf(store, 'a'), await store.binding('a', 'b50'), await viewOf(store, 'b')], before)
    assert.equal(await store.instance('ab'), undefined)
  }),

  storeCase('purge: never what lives', async ({ store }) => {
    for (const phase of ['creating', 'ready', 'updating', 'deleting', 'failed'] as const)
      await store.accept({ instanceId: phase }, () => ({
        answer: 0,
        change: { instance: instanceRow(phase, { phase, deletedAt: 1 }) },
      }))
    assert.equal(await store.purge(ever, 10), 0)
  }),

  storeCase('purge: by the time of the deletion, that time included', async ({ store }) => {
    await bury(store, 'i', { deletedAt: 10 })
    assert.equal(await store.purge(9, 10), 0)
    assert.equal(await store.purge(10, 10), 1)
  }),

  storeCase('purge: up to max, the oldest first, instances and bindings together', async ({ store }) => {
    await live(store, 'home', 15, 35)
    for (const [index, id] of ['d', 'a', 'c', 'b'].entries())
      await bury(store, id, { deletedAt: [40, 10, 30, 20][index] ?? 0 })
    const bindings = async () => {
      const rows = await Promise.all([15, 35].map(time => store.binding('home', `b${time}`)))
      return rows.flatMap(row => (row === undefined ? [] : [row.id]))
    }
    const ids = ['a', 'b', 'c', 'd']
    assert.equal(await store.purge(ever, 0), 0)
    assert.equal(await store.purge(ever, -1), 0)
    assert.equal(await store.purge(ever, 2), 2)
    assert.deepEqual([await leftOf(store, ...ids), await bindings()], [['b', 'c', 'd'], ['b35']])
    assert.equal(await store.purge(ever, 3), 3)
    assert.deepEqual([await leftOf(store, ...ids), await bindings()], [['d'], []])
    assert.equal(await store.purge(ever, 3), 1)
    assert.equal(await store.purge(ever, 3), 0)
  }),

  storeCase('purge: a deleted binding of a live instance goes with its operations alone', async ({ store }) => {
    await live(store, 'i', 10)
    const before = await viewOf(store, 'i')
    assert.equal(await store.purge(ever, 10), 1)
    assert.deepEqual([await store.binding('i', 'b10'), await store.operation('i:b10')], [undefined, undefined])
    assert.deepEqual(await viewOf(store, 'i'), before)
    assert.equal(await store.purge(ever, 10), 0)
  }),

  storeCase('purge: a deleted binding of a deleted instance stays until the instance goes', async ({ store }) => {
    await bury(store, 'i', { deletedAt: 100 })
    assert.equal(await store.purge(50, 10), 0)
    assert.ok(await store.binding('i', 'b'))
    assert.equal(await store.purge(100, 10), 1)
  }),

  storeCase('purge: not while an operation of it is active', async ({ store }) => {
    await bury(store, 'i')
    await bury(store, 'j')
    await live(store, 'k', 10)
    const sweep = (instanceId: string, bindingId?: string) =>
      store.accept({ instanceId }, () => ({
        answer: 0,
        change: {
          operations: [
            operationRow(`${instanceId}:sweep`, instanceId, {
              action: 'sweep',
              ...(bindingId === undefined ? {} : { bindingId }),
            }),
          ],
        },
      }))
    await sweep('i')
    await sweep('j', 'b')
    await sweep('k', 'b10')
    assert.equal(await store.purge(ever, 10), 0)
    for (const { operation } of (await store.claim('w', 3, 1_000)).claims) {
      assert.equal(await store.purge(ever, 10), 0, 'it is running')
      await store.finish({ operationId: operation.id, fence: operation.fence }, ({ finishing, now }) => ({
        operations: [{ ...finishing, state: 'succeeded', finishedAt: now }],
      }))
      assert.equal(await store.purge(ever, 10), 1)
    }
  }),

  storeCase('purge: not while a call of somebody may still land', async ({ store, clock }) => {
    const uncleanUntil = clock.now() + 100
    await bury(store, 'instance', { uncleanUntil })
    await bury(store, 'binding', {}, { uncleanUntil })
    await store.accept({ instanceId: 'home' }, () => ({
      answer: 0,
      change: {
        instance: instanceRow('home', { phase: 'ready' }),
        bindings: [bindingRow('home', 'b', { phase: 'deleted', deletedAt: 1, uncleanUntil })],
      },
    }))
    await clock.advance(99)
    assert.equal(await store.purge(ever, 10), 0)
    await clock.advance(1)
    assert.equal(await store.purge(ever, 10), 3)
    assert.ok(await store.instance('home'))
  }),

  storeCase('purge: bindings that were left standing go with their instance', async ({ store }) => {
    await bury(store, 'i', {}, { phase: 'failed' })
    assert.equal(await store.purge(ever, 10), 1)
    assert.equal(await store.binding('i', 'b'), undefined)
  }),

  storeCase('purge: its claims on shared resources go, and those of others stand', async ({ store }) => {
    await provision(store, 'i')
    const mine = leaseOf(await claimOne(store))
    await provision(store, 'j')
    const theirs = leaseOf(await claimOne(store))
    assert.equal(await store.share(mine, 'key', 'acquire'), 'do')
    await store.share(mine, 'key', 'settle')
    assert.equal(await store.share(theirs, 'key', 'acquire'), 'ready')
    await finish(store, mine)
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { instance: tombstone('i') } }))
    assert.equal(await store.purge(ever, 10), 1)
    // It is there still, for its neighbour claims it, and with the last claim it goes.
    assert.equal(await store.share(theirs, 'key', 'acquire'), 'ready')
    assert.equal(await store.share(theirs, 'key', 'release'), 'do')
  }),

  storeCase('purge: the last claim on a shared resource leaves it to the next one', async ({ store }) => {
    await provision(store, 'i')
    const mine = leaseOf(await claimOne(store))
    await store.share(mine, 'key', 'acquire')
    await store.share(mine, 'key', 'settle')
    await finish(store, mine)
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { instance: tombstone('i') } }))
    await store.purge(ever, 10)
    await provision(store, 'j')
    const next = leaseOf(await claimOne(store))
    assert.equal(await store.share(next, 'key', 'acquire'), 'ready')
    assert.equal(await store.share(next, 'key', 'release'), 'do')
  }),

  storeCase(
    'purge: the id can be used again, and begins with nothing but the history of the one before',
    async ({ store }) => {
      // As often as the next one: however its lines are kept in order, those of both stay apart.
      for (let times = 0; times < 3; times += 1) await bury(store, 'i')
      await store.purge(ever, 10)
      await provision(store, 'i')
      const claim = await claimOne(store)
      assert.deepEqual([claim.instance.phase, claim.steps, claim.takenOver], ['creating', [], false])
      const lines = ['a', 'b', 'c'].map(message => ({ at: 1, type: 'healed', instanceId: 'i', message }) as const)
      for (const event of lines)
        await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { history: [event] } }))
      const before = { at: 5, type: 'succeeded', instanceId: 'i' }
      assert.deepEqual(await store.history('i'), [before, before, before, ...lines])
      await store.checkpoint(leaseOf(claim), { step: stepRow('one') })
      assert.equal(await finish(store, leaseOf(claim)), true)
      assert.equal(await store.purge(ever, 10), 0)
    },
  ),

  storeCase('purge: a tombstone that is provisioned again is none', async ({ store }) => {
    await bury(store, 'i')
    await provision(store, 'i', { id: 'again' })
    // Its old binding is the tombstone of a live instance now.
    assert.equal(await store.purge(ever, 10), 1)
    assert.equal(await finish(store, leaseOf(await claimOne(store))), true)
    assert.equal(await store.purge(ever, 10), 0)
    assert.deepEqual([await store.binding('i', 'b'), (await store.instance('i'))?.phase], [undefined, 'ready'])
  }),

  storeCase('purge: against requests for the same id it leaves a whole ledger', async ({ store }) => {
    const ids = Array.from({ length: 25 }, (_, index) => `i${index}`)
    for (const id of ids) await bury(store, id, {}, { phase: 'failed' })
    const again = (id: string) =>
      store.accept({ instanceId: id }, ({ instance }) => ({
        answer: instance !== undefined,
        change: {
          instance: instanceRow(id, { lastOperationId: `${id}:again` }),
          operations: [operationRow(`${id}:again`, id)],
          history: [{ at: 1, type: 'accepted', instanceId: id }],
        },
      }))
    const [found, ...removed] = await Promise.all([
      Promise.all(ids.map(again)),
      ...Array.from({ length: 8 }, () => store.purge(ever, 4)),
    ])
    // Those that were purged first are the ones that the request did not find.
    const purged = removed.reduce((sum, count) => sum + count, 0)
    assert.equal(purged, found.filter(existed => !existed).length)
    for (const [index, id] of ids.entries()) {
      assert.equal((await store.instance(id))?.phase, 'creating')
      const old = (await store.operation(`${id}:delete`)) !== undefined
      assert.deepEqual([old, (await store.history(id)).length], [!!found[index], 2])
    }
    assert.equal((await store.claim('w', 100, 1_000)).claims.length, ids.length)
  }),

  storeCase('purge: many at once remove each one once', async ({ store }) => {
    await live(store, 'home', 1, 2, 3)
    for (let index = 0; index < 30; index += 1) await bury(store, `i${index}`, { deletedAt: index })
    const removed = await Promise.all(Array.from({ length: 6 }, () => store.purge(ever, 8)))
    assert.equal(
      removed.reduce((sum, count) => sum + count, await store.purge(ever, 100)),
      33,
    )
  }),

  durableStoreCase('purge: what was removed stays removed', async ({ store, reopen }) => {
    await bury(store, 'i')
    await bury(store, 'j', { deletedAt: 90 })
    assert.equal(await store.purge(50, 10), 1)
    const before = await viewOf(store, 'j')
    const again = await reopen()
    assert.deepEqual([await viewOf(again, 'i'), await viewOf(again, 'j')], [nothing('i'), before])
  }),
]
