import { assert } from './assert.ts'
import { claimOne, leaseOf, provision, standing } from './rows.ts'
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
]
