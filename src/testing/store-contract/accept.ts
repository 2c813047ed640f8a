import type { BindingPhase } from '../../domain/binding.ts'
import { assert } from './assert.ts'
import {
  bind,
  bindingRow,
  claimOne,
  instanceRow,
  leaseOf,
  operationRow,
  present,
  provision,
  snapshotOf,
  standing,
  view,
} from './rows.ts'
import { storeCase } from './subject.ts'

const phases: readonly BindingPhase[] = ['creating', 'ready', 'deleting', 'failed', 'deleted']

/** What a decision is shown, and what a decision that throws leaves. */
export const acceptCases = [
  storeCase('accept: an unknown instance gives an empty snapshot', async ({ store, clock }) => {
    const snapshot = await snapshotOf(store, { instanceId: 'i', bindingId: 'b', predecessorId: 'p' })
    assert.deepEqual(present(snapshot), { now: clock.now(), liveBindings: 0, busyBindings: 0, sweptBindings: 0 })
  }),

  storeCase('accept: answers what the decision answered, and reads back what it wrote', async ({ store }) => {
    assert.equal(await provision(store, 'i'), 'i:provision')
    assert.deepEqual(await store.instance('i'), instanceRow('i'))
    assert.deepEqual(await store.operation('i:provision'), operationRow('i:provision', 'i'))
  }),

  storeCase(
    'accept: the snapshot shows the instance and its active operation, queued or running',
    async ({ store }) => {
      await provision(store, 'i')
      const queued = await snapshotOf(store, { instanceId: 'i' })
      assert.deepEqual([queued.instance?.id, queued.operation?.state], ['i', 'queued'])
      const { operation } = await claimOne(store)
      const running = await snapshotOf(store, { instanceId: 'i' })
      assert.deepEqual(running.operation, operation)
    },
  ),

  storeCase('accept: a finished operation is not in the snapshot', async ({ store }) => {
    for (const state of ['succeeded', 'failed', 'superseded'] as const) {
      await provision(store, state, { state })
      assert.equal((await snapshotOf(store, { instanceId: state })).operation, undefined)
    }
  }),

  storeCase('accept: any action on the instance itself counts as its operation', async ({ store }) => {
    for (const action of ['update', 'deprovision', 'observe', 'sweep'] as const) {
      await provision(store, action, { action })
      assert.equal((await snapshotOf(store, { instanceId: action })).operation?.action, action)
    }
  }),

  storeCase('accept: tombstones are shown', async ({ store }) => {
    await standing(store, 'i', { phase: 'deleted', deletedAt: 7 })
    await store.accept({ instanceId: 'i', bindingId: 'b' }, () => ({
      answer: undefined,
      change: { bindings: [bindingRow('i', 'b', { phase: 'deleted', deletedAt: 7 })] },
    }))
    const { instance, binding } = await snapshotOf(store, { instanceId: 'i', bindingId: 'b' })
    assert.deepEqual(
      [instance?.phase, instance?.deletedAt, binding?.phase, binding?.deletedAt],
      ['deleted', 7, 'deleted', 7],
    )
  }),

  storeCase('accept: a binding and its operation are shown for their own id only', async ({ store }) => {
    await standing(store, 'i')
    await bind(store, 'i', 'b')
    const own = await snapshotOf(store, { instanceId: 'i', bindingId: 'b' })
    assert.deepEqual([own.binding?.id, own.bindingOperation?.id, own.operation], ['b', 'i:b:bind', undefined])
    const other = await snapshotOf(store, { instanceId: 'i', bindingId: 'c' })
    assert.deepEqual([other.binding, other.bindingOperation, other.busyBindings], [undefined, undefined, 1])
    const none = await snapshotOf(store, { instanceId: 'i' })
    assert.deepEqual([none.binding, none.bindingOperation, none.busyBindings], [undefined, undefined, 1])
  }),

  storeCase('accept: a held operation may be queued again, and its holder has lost it then', async ({ store }) => {
    const target = { instanceId: 'i', bindingId: 'b' }
    await standing(store, 'i')
    await bind(store, 'i', 'b', { input: { parameters: { round: 1 } } })
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: { name: 'one', state: 'done', attempts: 1, startedAt: 1 } })
    await store.renew([lease], 60_000)
    const again = await store.accept(target, ({ bindingOperation }) => {
      if (bindingOperation === undefined) throw new Error('it is not there')
      const unclaimed = { state: 'queued', attempt: 0, leaseOwner: undefined, leaseUntil: undefined } as const
      const queued = { ...bindingOperation, ...unclaimed, input: { parameters: { round: 2 } }, description: undefined }
      return { answer: queued, change: { operations: [queued] } }
    })
    assert.deepEqual(present((await store.operation(lease.operationId)) ?? {}), present(again))
    assert.equal(await store.checkpoint(lease, {}), false)
    assert.deepEqual(await store.renew([lease], 60_000), [])
    const next = await claimOne(store)
    assert.equal(next.operation.id, lease.operationId)
    assert.deepEqual([next.operation.attempt, next.operation.input], [1, { parameters: { round: 2 } }])
    assert.ok(next.operation.fence > lease.fence)
    assert.equal(next.takenOver, false)
    assert.deepEqual(
      next.steps.map(({ name }) => name),
      ['one'],
    )
  }),

  storeCase('accept: the predecessor is shown where one is named', async ({ store }) => {
    await standing(store, 'i')
    await bind(store, 'i', 'old')
    const { predecessor, binding } = await snapshotOf(store, {
      instanceId: 'i',
      bindingId: 'new',
      predecessorId: 'old',
    })
    assert.deepEqual([predecessor?.id, binding], ['old', undefined])
  }),

  storeCase('accept: live bindings are those that are ready, in creation or in deletion', async ({ store }) => {
    await standing(store, 'i')
    await standing(store, 'neighbour')
    for (const instanceId of ['i', 'neighbour']) {
      await store.accept({ instanceId }, () => ({
        answer: undefined,
        change: { bindings: phases.map(phase => bindingRow(instanceId, phase, { phase })) },
      }))
    }
    assert.equal((await snapshotOf(store, { instanceId: 'i' })).liveBindings, 3)
  }),

  storeCase(
    'accept: busy bindings are those with an active operation, the instance’s own not counted',
    async ({ store }) => {
      await standing(store, 'i')
      await bind(store, 'i', 'queued')
      await bind(store, 'i', 'done', { state: 'succeeded' })
      await claimOne(store)
      await bind(store, 'i', 'queued too')
      await provision(store, 'i')
      assert.equal((await snapshotOf(store, { instanceId: 'i' })).busyBindings, 2)
    },
  ),

  storeCase('accept: sweeps of bindings are counted apart, queued or running', async ({ store }) => {
    const counts = async () => {
      const { busyBindings, sweptBindings } = await snapshotOf(store, { instanceId: 'i' })
      return { busyBindings, sweptBindings }
    }
    await standing(store, 'i')
    await standing(store, 'neighbour')
    await bind(store, 'i', 'running', { action: 'sweep' })
    await claimOne(store)
    await bind(store, 'i', 'queued', { action: 'sweep' })
    await bind(store, 'i', 'ended', { action: 'sweep', state: 'succeeded' })
    await bind(store, 'neighbour', 'queued', { action: 'sweep' })
    assert.deepEqual(await counts(), { busyBindings: 0, sweptBindings: 2 })
    await bind(store, 'i', 'bound')
    await bind(store, 'i', 'unbound', { action: 'unbind' })
    assert.deepEqual(await counts(), { busyBindings: 2, sweptBindings: 2 })
    // A sweep of the instance itself is its operation.
    await provision(store, 'i', { action: 'sweep' })
    assert.deepEqual(await counts(), { busyBindings: 2, sweptBindings: 2 })
    const ofBinding = await snapshotOf(store, { instanceId: 'i', bindingId: 'queued' })
    assert.deepEqual([ofBinding.busyBindings, ofBinding.sweptBindings], [2, 2])
  }),

  storeCase('accept: a decision that throws is the caller’s error and writes nothing', async ({ store }) => {
    await provision(store, 'i')
    const before = await view(store, 'i', 'i:provision')
    const refusal = new Error('refused')
    const refused = store.accept({ instanceId: 'i' }, () => {
      throw refusal
    })
    await assert.rejects(refused, error => error === refusal)
    assert.deepEqual(await view(store, 'i', 'i:provision'), before)
  }),

  storeCase('accept: a decision without a change writes nothing', async ({ store }) => {
    assert.equal(await store.accept({ instanceId: 'i' }, () => ({ answer: 42 })), 42)
    assert.equal(await store.instance('i'), undefined)
  }),

  storeCase('accept: decisions of one turn each see what the one before wrote', async ({ store }) => {
    const seen = await Promise.all(
      [1, 2, 3].map(() =>
        store.accept({ instanceId: 'i' }, ({ instance }) => ({
          answer: instance?.updatedAt ?? 0,
          change: { instance: instanceRow('i', { updatedAt: (instance?.updatedAt ?? 0) + 1 }) },
        })),
      ),
    )
    assert.deepEqual(seen, [0, 1, 2])
  }),

  storeCase('accept: changing a row that was shown does not change the ledger', async ({ store }) => {
    await standing(store, 'i', { state: { list: [1] } })
    const { instance } = await snapshotOf(store, { instanceId: 'i' })
    for (const shown of [instance, await store.instance('i'), await store.instance('i')]) {
      const list = shown?.state.list
      assert.ok(Array.isArray(list))
      try {
        list.push(2)
      } catch (error) {
        // A store may refuse it, and freeze what it shows.
        assert.ok(error instanceof TypeError)
      }
      assert.deepEqual((await store.instance('i'))?.state, { list: [1] })
    }
  }),
]
