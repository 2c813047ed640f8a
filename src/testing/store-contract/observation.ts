import { settle } from '../../domain/settle.ts'
import { assert } from './assert.ts'
import { bind, claimOne, leaseOf, operationRow, provision, saveState, standing } from './rows.ts'
import { storeCase } from './subject.ts'

export const observationCases = [
  storeCase(
    'observation: instances are due for observation from their time on, oldest first',
    async ({ store, clock }) => {
      const now = clock.now()
      await standing(store, 'later', { observeAt: now + 10 })
      await standing(store, 'second', { observeAt: now })
      await standing(store, 'first', { observeAt: now - 1 })
      await standing(store, 'never')
      assert.deepEqual(await store.dueForObservation(5), ['first', 'second'])
      assert.deepEqual(await store.dueForObservation(1), ['first'])
      assert.deepEqual(await store.dueForObservation(0), [])
      await clock.advance(10)
      assert.deepEqual(await store.dueForObservation(5), ['first', 'second', 'later'])
      await standing(store, 'first', { observeAt: now + 60_000 })
      await standing(store, 'second')
      assert.deepEqual(await store.dueForObservation(5), ['later'])
    },
  ),

  storeCase('observation: an active operation does not hide an instance from observation', async ({ store, clock }) => {
    await standing(store, 'i', { observeAt: clock.now() })
    await provision(store, 'other')
    await store.checkpoint(leaseOf(await claimOne(store)), { state: {} })
    assert.deepEqual(await store.dueForObservation(5), ['i'])
  }),

  storeCase('observation: what it saves and what a bind merges meanwhile are both kept', async ({ store }) => {
    await standing(store, 'i', { state: { made: true } })
    await store.accept({ instanceId: 'i' }, () => ({
      answer: undefined,
      change: { operations: [operationRow('look', 'i', { action: 'observe' })] },
    }))
    const lease = leaseOf(await claimOne(store))
    await bind(store, 'i', 'b')
    const binding = await claimOne(store)
    assert.equal(await saveState(store, 'i', lease, { seen: 1 }), true)
    const outcome = { kind: 'succeeded', result: { binding: {}, instanceState: { grants: { b: true } } } } as const
    assert.equal(await store.finish(leaseOf(binding), snapshot => settle(snapshot, outcome, policy)), true)
    assert.equal(await saveState(store, 'i', lease, { seen: 2 }), true)
    const seen = { kind: 'succeeded', result: { observed: { ready: true } } } as const
    assert.equal(await store.finish(lease, snapshot => settle(snapshot, seen, policy)), true)
    assert.deepEqual((await store.instance('i'))?.state, { made: true, seen: 2, grants: { b: true } })
  }),
]

const policy = { sweepDelay: 0, sweepTimeout: 0, sweepOperationId: 'sweep' }
