import type { Binding, CleanUp, Instance, Operation, Store } from '../../store.ts'
import { assert } from './assert.ts'
import {
  bindingRow,
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  leaseTime,
  operationRow,
  provision,
  stepRow,
  supersede,
} from './rows.ts'
import { durableStoreCase, storeCase } from './subject.ts'

const everything: CleanUp = {
  of: 'instances',
  states: ['succeeded', 'failed', 'superseded'],
  before: Number.MAX_SAFE_INTEGER,
  max: 100,
}

/** Writes the rows as they are; operations that are not said to be otherwise have succeeded at time 10. */
function write(
  store: Store,
  instance: Instance,
  operations: readonly Operation[],
  bindings: readonly Binding[] = [],
): Promise<void> {
  return store.accept({ instanceId: instance.id }, () => ({
    answer: undefined,
    change: { instance, bindings, operations },
  }))
}

function ended(id: string, overrides: Partial<Operation> = {}, instanceId = 'i'): Operation {
  return operationRow(id, instanceId, { state: 'succeeded', finishedAt: 10, ...overrides })
}

/** A live instance whose latest operation is `last`, and `ids` before it. */
function ready(store: Store, ...operations: readonly Operation[]): Promise<void> {
  const instance = instanceRow('i', { phase: 'ready', lastOperationId: 'last' })
  return write(store, instance, [...operations, ended('last', { finishedAt: 99 })])
}

async function left(store: Store, ...ids: readonly string[]): Promise<readonly string[]> {
  const rows = await Promise.all(ids.map(id => store.operation(id)))
  return rows.flatMap(row => (row === undefined ? [] : [row.id]))
}

export const cleanUpCases = [
  storeCase('cleanUp: removes what has ended, and never the latest of what lives', async ({ store }) => {
    await ready(store, ended('a'), ended('b'))
    assert.equal(await store.cleanUp(everything), 2)
    assert.deepEqual(await left(store, 'a', 'b', 'last'), ['last'])
    assert.equal(await store.cleanUp(everything), 0)
    assert.equal((await store.instance('i'))?.lastOperationId, 'last')
  }),

  storeCase('cleanUp: steps go with their operation, and those of others stay', async ({ store, clock }) => {
    await provision(store, 'i', { id: 'a' })
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('one') })
    await finish(store, lease)
    await provision(store, 'j')
    const other = leaseOf(await claimOne(store))
    await store.checkpoint(other, { step: stepRow('one', { output: 'kept' }) })
    await store.park(other, { until: 0 })
    await clock.advance(leaseTime)
    assert.equal(await store.cleanUp(everything), 1)
    assert.deepEqual((await claimOne(store)).steps, [stepRow('one', { output: 'kept' })])
    // An id that comes again finds no step of an earlier life.
    await provision(store, 'i', { id: 'a' })
    assert.deepEqual((await claimOne(store)).steps, [])
  }),

  storeCase('cleanUp: never what is queued or running', async ({ store }) => {
    await provision(store, 'i')
    await provision(store, 'j')
    const lease = leaseOf(await claimOne(store))
    assert.equal(await store.cleanUp(everything), 0)
    assert.deepEqual(await left(store, 'i:provision', 'j:provision'), ['i:provision', 'j:provision'])
    assert.equal(await finish(store, lease), true)
  }),

  storeCase('cleanUp: by the time of the end, that time included', async ({ store }) => {
    await ready(store, ended('early', { finishedAt: 10 }), ended('late', { finishedAt: 11 }))
    assert.equal(await store.cleanUp({ ...everything, before: 9 }), 0)
    assert.equal(await store.cleanUp({ ...everything, before: 10 }), 1)
    assert.deepEqual(await left(store, 'early', 'late'), ['late'])
  }),

  storeCase('cleanUp: up to max, the oldest first, whatever their states', async ({ store }) => {
    const states = ['succeeded', 'failed', 'superseded'] as const
    const operations = [5, 3, 8, 1, 9, 2].map((time, index) =>
      ended(`at${time}`, { finishedAt: time, state: states[index % 3] ?? 'failed' }),
    )
    await ready(store, ...operations)
    const ids = operations.map(({ id }) => id)
    assert.equal(await store.cleanUp({ ...everything, max: 2 }), 2)
    assert.deepEqual(await left(store, ...ids), ['at5', 'at3', 'at8', 'at9'])
    assert.equal(await store.cleanUp({ ...everything, max: 3 }), 3)
    assert.deepEqual(await left(store, ...ids), ['at9'])
    assert.equal(await store.cleanUp({ ...everything, max: 0 }), 0)
    assert.equal(await store.cleanUp({ ...everything, max: -1 }), 0)
    assert.equal(await store.cleanUp({ ...everything, max: 3 }), 1)
  }),

  storeCase('cleanUp: only the states that are asked for', async ({ store }) => {
    const ids = ['succeeded', 'failed', 'superseded'] as const
    await ready(store, ...ids.map(state => ended(state, { state })))
    assert.equal(await store.cleanUp({ ...everything, states: [] }), 0)
    assert.equal(await store.cleanUp({ ...everything, states: ['failed'] }), 1)
    assert.deepEqual(await left(store, ...ids), ['succeeded', 'superseded'])
    assert.equal(await store.cleanUp({ ...everything, states: ['succeeded', 'failed'] }), 1)
    assert.deepEqual(await left(store, ...ids), ['superseded'])
  }),

  storeCase('cleanUp: instances and bindings apart', async ({ store }) => {
    const instance = instanceRow('i', { phase: 'ready', lastOperationId: 'last' })
    const live = bindingRow('i', 'live', { phase: 'ready', lastOperationId: 'live last' })
    const gone = bindingRow('i', 'gone', { phase: 'deleted', deletedAt: 1, lastOperationId: 'gone last' })
    await write(
      store,
      instance,
      [
        ended('of instance'),
        ended('last'),
        ended('live old', { bindingId: 'live' }),
        ended('live last', { bindingId: 'live' }),
        ended('gone last', { bindingId: 'gone' }),
        ended('of nobody', { bindingId: 'nobody' }),
      ],
      [live, gone],
    )
    const ids = ['of instance', 'last', 'live old', 'live last', 'gone last', 'of nobody']
    assert.equal(await store.cleanUp({ ...everything, of: 'bindings' }), 3)
    assert.deepEqual(await left(store, ...ids), ['of instance', 'last', 'live last'])
    assert.equal(await store.cleanUp(everything), 1)
    assert.deepEqual(await left(store, ...ids), ['last', 'live last'])
  }),

  storeCase('cleanUp: the latest one of what is deleted may go', async ({ store }) => {
    await write(store, instanceRow('i', { phase: 'deleted', deletedAt: 10, lastOperationId: 'last' }), [ended('last')])
    assert.equal(await store.cleanUp(everything), 1)
    assert.equal((await store.instance('i'))?.phase, 'deleted')
  }),

  storeCase('cleanUp: what was the latest one goes when a later one has come', async ({ store, clock }) => {
    await provision(store, 'i', { id: 'first' })
    await write(store, instanceRow('i', { lastOperationId: 'first' }), [])
    await finish(store, leaseOf(await claimOne(store)))
    await clock.advance(leaseTime)
    assert.equal(await store.cleanUp({ ...everything, before: clock.now() }), 0)
    await write(store, instanceRow('i', { phase: 'updating', lastOperationId: 'second' }), [
      operationRow('second', 'i', { action: 'update' }),
    ])
    assert.equal(await store.cleanUp({ ...everything, before: clock.now() }), 1)
    assert.deepEqual(await left(store, 'first', 'second'), ['second'])
  }),

  storeCase('cleanUp: whichever one a live resource names as its latest stays', async ({ store }) => {
    const binding = bindingRow('i', 'b', { phase: 'ready', lastOperationId: 'y' })
    const operations = [ended('a'), ended('z'), ended('x', { bindingId: 'b' }), ended('y', { bindingId: 'b' })]
    await write(store, lastOf('z'), operations, [binding])
    await write(store, lastOf('a'), [], [{ ...binding, lastOperationId: 'x' }])
    assert.equal(await store.cleanUp(everything), 1)
    assert.equal(await store.cleanUp({ ...everything, of: 'bindings' }), 1)
    assert.deepEqual(await left(store, 'a', 'z', 'x', 'y'), ['a', 'x'])
  }),

  storeCase('cleanUp: what was the latest one goes when its resource is deleted', async ({ store }) => {
    const instance = instanceRow('i', { phase: 'ready', lastOperationId: 'last' })
    const binding = bindingRow('i', 'b', { phase: 'ready', lastOperationId: 'bound' })
    await write(store, instance, [ended('last'), ended('bound', { bindingId: 'b' })], [binding])
    assert.equal(await store.cleanUp({ ...everything, of: 'bindings' }), 0)
    await write(store, instance, [], [{ ...binding, phase: 'deleted', deletedAt: 20 }])
    assert.equal(await store.cleanUp({ ...everything, of: 'bindings' }), 1)
    assert.equal(await store.cleanUp(everything), 0)
    await write(store, { ...instance, phase: 'deleted', deletedAt: 20 }, [])
    assert.equal(await store.cleanUp(everything), 1)
  }),

  storeCase('cleanUp: not while a superseded one may still be at work', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await supersede(store, 'i', 'deletion')
    // As real decisions do, which the helper leaves out.
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { instance: lastOf('deletion') } }))
    await markEnded(store, 'i:provision', clock.now())
    assert.equal(await store.cleanUp(everything), 0)
    await clock.advance(leaseTime - 1)
    assert.equal(await store.cleanUp(everything), 0)
    await clock.advance(1)
    assert.equal(await store.cleanUp(everything), 1)
    await store.handBack(lease)
    assert.equal((await claimOne(store)).operation.id, 'deletion')
  }),

  storeCase('cleanUp: a superseded one that was handed back may go at once', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await supersede(store, 'i', 'deletion')
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { instance: lastOf('deletion') } }))
    await markEnded(store, 'i:provision', clock.now())
    await store.handBack(lease)
    assert.equal(await store.cleanUp(everything), 1)
    assert.equal((await claimOne(store)).operation.id, 'deletion')
  }),

  storeCase('cleanUp: observations and sweeps go, though nothing came after them', async ({ store }) => {
    await ready(store, ended('observed', { action: 'observe', finishedAt: 200 }), ended('swept', { action: 'sweep' }))
    assert.equal(await store.cleanUp(everything), 2)
  }),

  storeCase('cleanUp: many at once remove each one once', async ({ store }) => {
    const operations = Array.from({ length: 60 }, (_, index) => ended(`o${index}`, { finishedAt: index }))
    await ready(store, ...operations)
    const removed = await Promise.all(Array.from({ length: 8 }, () => store.cleanUp({ ...everything, max: 20 })))
    const rest = await store.cleanUp(everything)
    assert.equal(
      removed.reduce((sum, count) => sum + count, rest),
      60,
    )
    assert.deepEqual(await left(store, 'last', ...operations.map(({ id }) => id)), ['last'])
  }),

  storeCase('cleanUp: the latest one stays while requests move on beside it', async ({ store, clock }) => {
    await write(store, instanceRow('i', { phase: 'ready', lastOperationId: 'o0' }), [ended('o0')])
    for (let round = 1; round <= 10; round += 1) {
      const [next, before] = [`o${round}`, `o${round - 1}`]
      await Promise.all([
        write(store, lastOf(next), [ended(next, { finishedAt: clock.now() })]),
        store.cleanUp(everything),
        store.cleanUp(everything),
      ])
      assert.deepEqual(await left(store, next), [next])
      await store.cleanUp(everything)
      assert.deepEqual(await left(store, before, next), [next])
    }
  }),

  durableStoreCase('cleanUp: what was removed stays removed', async ({ store, reopen }) => {
    await ready(store, ended('a'), ended('b', { finishedAt: 50 }))
    assert.equal(await store.cleanUp({ ...everything, before: 20 }), 1)
    const again = await reopen()
    assert.deepEqual(await left(again, 'a', 'b', 'last'), ['b', 'last'])
    assert.equal(await again.cleanUp(everything), 1)
  }),
]

function lastOf(operationId: string): Instance {
  return instanceRow('i', { phase: 'ready', lastOperationId: operationId })
}

async function markEnded(store: Store, id: string, finishedAt: number): Promise<void> {
  const operation = await store.operation(id)
  assert.ok(operation)
  await store.accept({ instanceId: operation.instanceId }, () => ({
    answer: undefined,
    change: { operations: [{ ...operation, finishedAt }] },
  }))
}
