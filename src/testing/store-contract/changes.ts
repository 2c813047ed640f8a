import { assert } from './assert.ts'
import {
  bind,
  bindingRow,
  claimOne,
  instanceRow,
  leaseOf,
  operationRow,
  provision,
  standing,
  stepRow,
  view,
} from './rows.ts'
import { storeCase } from './subject.ts'

/** How a change is written: whole rows, in order, all or nothing. */
export const changeCases = [
  storeCase('change: rows are replaced as a whole', async ({ store }) => {
    await standing(store, 'i', { dashboardUrl: 'https://old', state: { a: 1 }, observeAt: 5 })
    await standing(store, 'i', { state: { b: 2 } })
    assert.deepEqual(await store.instance('i'), instanceRow('i', { phase: 'ready', created: true, state: { b: 2 } }))

    await provision(store, 'i', { description: 'old', leaseOwner: 'w', leaseUntil: 5, checkpointAt: 5, drains: 'x' })
    await provision(store, 'i')
    assert.deepEqual(await store.operation('i:provision'), operationRow('i:provision', 'i'))

    await bind(store, 'i', 'b')
    const binding = bindingRow('i', 'b', { phase: 'ready', result: { credentials: { user: 'u' } } })
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { bindings: [binding] } }))
    assert.deepEqual(await store.binding('i', 'b'), binding)
  }),

  storeCase('change: every field of an operation comes back', async ({ store }) => {
    const full = operationRow('o', 'i', {
      bindingId: 'b',
      action: 'unbind',
      state: 'failed',
      input: { planId: 'p', parameters: { a: 1 }, context: { c: 2 }, maintenanceVersion: '1.0.0' },
      identity: { platform: 'cf', user_id: 'u' },
      requestId: 'r',
      description: 'd',
      error: { message: 'm', status: 400, instanceUsable: false, updateRepeatable: true },
      attempt: 3,
      losses: 2,
      notBefore: 4,
      deadlineAt: 5,
      leaseOwner: 'w',
      leaseUntil: 6,
      fence: 7,
      drains: 'other',
      unclean: true,
      acceptedAt: 8,
      checkpointAt: 9,
      finishedAt: 10,
    })
    await standing(store, 'i')
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { operations: [full] } }))
    assert.deepEqual(await store.operation('o'), full)
  }),

  storeCase(
    'change: a second active operation on one resource is refused, with all that came with it',
    async ({ store }) => {
      await provision(store, 'i')
      const before = await view(store, 'i', 'i:provision', 'second')
      const event = { at: 1, type: 'accepted', instanceId: 'i' } as const
      const second = store.accept({ instanceId: 'i' }, () => ({
        answer: 0,
        change: {
          instance: instanceRow('i', { phase: 'failed' }),
          bindings: [bindingRow('i', 'b')],
          operations: [operationRow('second', 'i')],
          history: [event],
        },
      }))
      await assert.rejects(second)
      assert.deepEqual(await view(store, 'i', 'i:provision', 'second'), before)
    },
  ),

  storeCase('change: the same holds against a running operation, and for a binding', async ({ store }) => {
    await provision(store, 'i')
    await claimOne(store)
    await assert.rejects(
      store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { operations: [operationRow('second', 'i')] } })),
    )
    await bind(store, 'i', 'b')
    const rival = operationRow('rival', 'i', { bindingId: 'b', action: 'unbind' })
    await assert.rejects(store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { operations: [rival] } })))
    assert.deepEqual([await store.operation('second'), await store.operation('rival')], [undefined, undefined])
  }),

  storeCase('change: different bindings may have an active operation each', async ({ store }) => {
    await provision(store, 'i')
    for (const id of ['b', 'c', 'd']) await bind(store, 'i', id)
    assert.equal((await store.claim('w', 10, 1000)).claims.length, 4)
  }),

  storeCase('change: operations are written in order, so that one may end and the next begin', async ({ store }) => {
    await provision(store, 'i')
    const ended = operationRow('i:provision', 'i', { state: 'superseded' })
    const begun = operationRow('next', 'i', { action: 'deprovision' })
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { operations: [ended, begun] } }))
    assert.equal((await store.operation('i:provision'))?.state, 'superseded')
    assert.equal((await store.operation('next'))?.state, 'queued')

    const wrongOrder = [operationRow('third', 'i'), operationRow('next', 'i', { state: 'succeeded' })]
    await assert.rejects(store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { operations: wrongOrder } })))
    assert.equal((await store.operation('next'))?.state, 'queued')
  }),

  storeCase('change: a deleted operation is gone, its steps too', async ({ store }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('one') })
    await store.finish(lease, ({ finishing }) => ({ deleteOperations: [finishing.id] }))
    assert.equal(await store.operation('i:provision'), undefined)
    await provision(store, 'i')
    assert.deepEqual((await claimOne(store)).steps, [])
  }),

  storeCase('change: replacing an operation keeps its steps', async ({ store }) => {
    await provision(store, 'i')
    await store.checkpoint(leaseOf(await claimOne(store)), { step: stepRow('one', { output: 1 }) })
    await provision(store, 'i')
    assert.deepEqual((await claimOne(store)).steps, [stepRow('one', { output: 1 })])
  }),

  storeCase('change: bindings and operations need their instance', async ({ store }) => {
    await assert.rejects(bind(store, 'nowhere', 'b'))
    await assert.rejects(
      store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { operations: [operationRow('o', 'nowhere')] } })),
    )
    assert.deepEqual([await store.binding('nowhere', 'b'), await store.operation('o')], [undefined, undefined])
  }),
]
