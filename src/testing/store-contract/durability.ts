import { assert } from './assert.ts'
import { bind, claimOne, finish, leaseOf, leaseTime, provision, standing, stepRow, view } from './rows.ts'
import { durableStoreCase } from './subject.ts'

/** What has resolved is there after the store was closed and opened again. */
export const durabilityCases = [
  durableStoreCase('durability: rows, steps and history survive', async ({ store, clock, reopen }) => {
    await standing(store, 'i', { state: { a: 1 }, observeAt: clock.now() })
    await bind(store, 'i', 'b')
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('one', { output: { secret: 's' } }), state: { of: 'b' } })
    await store.accept({ instanceId: 'i' }, () => ({
      answer: 0,
      change: { history: [{ at: 1, type: 'healed', instanceId: 'i' }] },
    }))
    const before = await view(store, 'i', 'i:b:bind')
    const again = await reopen()
    assert.deepEqual(await view(again, 'i', 'i:b:bind'), before)
    assert.deepEqual(await again.dueForObservation(1), ['i'])
    await again.park(lease, { until: clock.now() })
    assert.deepEqual((await claimOne(again)).steps, [stepRow('one', { output: { secret: 's' } })])
  }),

  durableStoreCase('durability: queued work is found, held leases are respected', async ({ store, clock, reopen }) => {
    await provision(store, 'running')
    const lease = leaseOf(await claimOne(store))
    await provision(store, 'queued')
    const again = await reopen()
    const { claims, nextAt } = await again.claim('w', 5, leaseTime)
    assert.deepEqual([claims.map(claim => claim.instance.id), nextAt], [['queued'], clock.now() + leaseTime])
    assert.deepEqual(await again.renew([lease], leaseTime), [lease])
    await clock.advance(leaseTime)
    assert.deepEqual(
      (await again.claim('w', 5, leaseTime)).claims.map(claim => claim.takenOver),
      [true, true],
    )
  }),

  durableStoreCase('durability: fences go on rising', async ({ store, clock, reopen }) => {
    await provision(store, 'i')
    const first = await claimOne(store)
    await clock.advance(leaseTime)
    const second = await claimOne(await reopen())
    assert.ok(second.operation.fence > first.operation.fence)
  }),

  durableStoreCase('durability: the rules hold for rows of an earlier run', async ({ store, clock, reopen }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await store.share(lease, 'key', 'acquire')
    const again = await reopen()
    await assert.rejects(
      again.accept({ instanceId: 'i' }, ({ operation }) => ({
        answer: 0,
        change: { operations: operation === undefined ? [] : [{ ...operation, id: 'second' }] },
      })),
    )
    await provision(again, 'j')
    const other = leaseOf(await claimOne(again))
    assert.equal(await again.share(other, 'key', 'acquire'), 'busy')
    assert.equal(await finish(again, lease), true)
    await clock.advance(leaseTime)
    assert.equal((await again.operation('i:provision'))?.state, 'succeeded')
  }),
]
