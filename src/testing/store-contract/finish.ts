import { assert } from './assert.ts'
import { bind, bindingRow, claimOne, leaseOf, operationRow, provision, snapshotOf, standing, view } from './rows.ts'
import { storeCase } from './subject.ts'

export const finishCases = [
  storeCase('finish: result, resource and history in one transaction', async ({ store, clock }) => {
    await provision(store, 'i')
    const { operation, instance } = await claimOne(store)
    const event = { at: clock.now(), type: 'succeeded', instanceId: 'i', operationId: operation.id } as const
    const ready = { ...instance, phase: 'ready', created: true, state: { name: 'db' } } as const
    const succeeded = { ...operation, state: 'succeeded', finishedAt: clock.now() } as const
    const change = { instance: ready, operations: [succeeded], history: [event] }
    assert.equal(await store.finish({ operationId: operation.id, fence: operation.fence }, () => change), true)
    assert.deepEqual(await store.instance('i'), ready)
    assert.deepEqual(await store.operation(operation.id), succeeded)
    assert.deepEqual(await store.history('i'), [event])
    assert.deepEqual((await store.claim('w', 1, 1)).claims, [])
  }),

  storeCase('finish: the decision sees the operation and the snapshot of its resource', async ({ store }) => {
    await standing(store, 'i')
    await bind(store, 'i', 'other')
    const other = await claimOne(store)
    await store.accept({ instanceId: 'i', bindingId: 'b' }, () => ({
      answer: 0,
      change: {
        bindings: [bindingRow('i', 'b', { predecessorId: 'other' })],
        operations: [operationRow('bind b', 'i', { action: 'bind', bindingId: 'b' })],
      },
    }))
    const claim = await claimOne(store)
    const expected = await snapshotOf(store, { instanceId: 'i', bindingId: 'b', predecessorId: 'other' })
    assert.deepEqual([expected.liveBindings, expected.busyBindings, expected.predecessor?.id], [2, 2, 'other'])
    const seen: unknown[] = []
    await store.finish(leaseOf(claim), snapshot => {
      seen.push(snapshot)
      return { operations: [{ ...snapshot.finishing, state: 'succeeded' }] }
    })
    assert.deepEqual(seen.at(-1), { ...expected, finishing: claim.operation })
    await store.finish(leaseOf(other), snapshot => {
      seen.push([snapshot.binding?.id, snapshot.predecessor, snapshot.busyBindings])
      return { operations: [{ ...snapshot.finishing, state: 'failed' }] }
    })
    assert.deepEqual(seen.at(-1), ['other', undefined, 1])
  }),

  storeCase('finish: an instance operation sees itself as the active one', async ({ store }) => {
    await provision(store, 'i')
    const claim = await claimOne(store)
    let seen: unknown
    await store.finish(leaseOf(claim), ({ operation, finishing, instance, binding }) => {
      seen = { operation, finishing, instance, binding }
      return {}
    })
    assert.deepEqual(seen, {
      operation: claim.operation,
      finishing: claim.operation,
      instance: claim.instance,
      binding: undefined,
    })
  }),

  storeCase('finish: may put the next operation in the place of the one that ends', async ({ store }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await store.finish(lease, ({ finishing }) => ({
      operations: [{ ...finishing, state: 'succeeded' }, operationRow('sweep', 'i', { action: 'sweep' })],
    }))
    assert.equal((await claimOne(store)).operation.id, 'sweep')
  }),

  storeCase('finish: a decision that throws is the caller’s error, and the lease is still held', async ({ store }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    const before = await view(store, 'i', lease.operationId)
    const mistake = new Error('mistake')
    const failed = store.finish(lease, () => {
      throw mistake
    })
    await assert.rejects(failed, error => error === mistake)
    assert.deepEqual(await view(store, 'i', lease.operationId), before)
    assert.equal(await store.checkpoint(lease, {}), true)
  }),

  storeCase('finish: a change that is refused leaves the operation running', async ({ store }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    const before = await view(store, 'i', lease.operationId)
    const twoActive = store.finish(lease, ({ instance }) => ({
      ...(instance === undefined ? {} : { instance: { ...instance, phase: 'ready' } }),
      operations: [operationRow('second', 'i')],
      history: [{ at: 1, type: 'succeeded', instanceId: 'i' }],
    }))
    await assert.rejects(twoActive)
    assert.deepEqual(await view(store, 'i', lease.operationId), before)
  }),

  storeCase('finish: without the lease the decision is not even asked', async ({ store }) => {
    await provision(store, 'i')
    const { operationId, fence } = leaseOf(await claimOne(store))
    let asked = 0
    const decide = () => {
      asked += 1
      return {}
    }
    assert.equal(await store.finish({ operationId, fence: fence - 1 }, decide), false)
    assert.equal(await store.finish({ operationId: 'none', fence }, decide), false)
    assert.equal(asked, 0)
  }),
]
