import type { Lease, Store } from '../../store.ts'
import { assert } from './assert.ts'
import { claimOne, finish, leaseOf, leaseTime, provision, supersede } from './rows.ts'
import { storeCase } from './subject.ts'

async function running(store: Store, ...instanceIds: string[]): Promise<Lease[]> {
  const leases: Lease[] = []
  for (const id of instanceIds) {
    await provision(store, id)
    leases.push(leaseOf(await claimOne(store)))
  }
  return leases
}

export const sharedCases = [
  storeCase('share: the first creates, the others wait, then use it', async ({ store }) => {
    const [a, b] = await running(store, 'a', 'b')
    assert.ok(a && b)
    assert.equal(await store.share(a, 'key', 'acquire'), 'do')
    assert.equal(await store.share(a, 'key', 'acquire'), 'do', 'the same operation may ask again')
    assert.equal(await store.share(b, 'key', 'acquire'), 'busy')
    assert.equal(await store.share(b, 'key', 'settle'), 'ready', 'only the holder settles')
    assert.equal(await store.share(b, 'key', 'acquire'), 'busy')
    assert.equal(await store.share(a, 'key', 'settle'), 'ready')
    assert.equal(await store.share(b, 'key', 'acquire'), 'ready')
  }),

  storeCase('share: only the last one removes, and afterwards it can be created again', async ({ store }) => {
    const [a, b] = await running(store, 'a', 'b')
    assert.ok(a && b)
    await store.share(a, 'key', 'acquire')
    await store.share(a, 'key', 'settle')
    await store.share(b, 'key', 'acquire')
    assert.equal(await store.share(a, 'key', 'release'), 'ready')
    assert.equal(await store.share(b, 'key', 'release'), 'do')
    assert.equal(await store.share(a, 'key', 'acquire'), 'busy', 'it is being removed')
    assert.equal(await store.share(b, 'key', 'settle'), 'ready')
    assert.equal(await store.share(a, 'key', 'acquire'), 'do', 'it is gone, so it is created again')
  }),

  storeCase('share: releasing what nobody made is nothing to do', async ({ store }) => {
    const [a] = await running(store, 'a')
    assert.ok(a)
    assert.equal(await store.share(a, 'key', 'release'), 'ready')
    assert.equal(await store.share(a, 'key', 'settle'), 'ready')
    assert.equal(await store.share(a, 'key', 'acquire'), 'do')
  }),

  storeCase('share: keys are apart', async ({ store }) => {
    const [a, b] = await running(store, 'a', 'b')
    assert.ok(a && b)
    assert.equal(await store.share(a, 'one', 'acquire'), 'do')
    assert.equal(await store.share(b, 'other', 'acquire'), 'do')
  }),

  storeCase('share: a holder that waits in the queue is alive', async ({ store, clock }) => {
    const [a, b] = await running(store, 'a', 'b')
    assert.ok(a && b)
    await store.share(a, 'key', 'acquire')
    await store.park(a, { until: clock.now() + 5 })
    assert.equal(await store.share(b, 'key', 'acquire'), 'busy')
  }),

  storeCase('share: a holder whose lease is over but who is still active is alive', async ({ store, clock }) => {
    const [a, b] = await running(store, 'a', 'b')
    assert.ok(a && b)
    await store.share(a, 'key', 'acquire')
    await clock.advance(leaseTime * 2)
    assert.equal(await store.share(b, 'key', 'acquire'), 'busy')
  }),

  storeCase('share: a superseded holder is alive until its lease is over', async ({ store, clock }) => {
    const [a, b] = await running(store, 'a', 'b')
    assert.ok(a && b)
    await store.share(a, 'key', 'acquire')
    await supersede(store, 'a', 'delete')
    await clock.advance(leaseTime - 1)
    assert.equal(await store.share(b, 'key', 'acquire'), 'busy')
    await clock.advance(1)
    assert.equal(await store.share(b, 'key', 'acquire'), 'do')
  }),

  storeCase('share: a holder that ended without settling leaves it to the next', async ({ store }) => {
    const [a, b] = await running(store, 'a', 'b')
    assert.ok(a && b)
    await store.share(a, 'key', 'acquire')
    await store.finish(a, ({ finishing }) => {
      const { leaseOwner: _owner, leaseUntil: _until, ...rest } = finishing
      return { operations: [{ ...rest, state: 'failed' }] }
    })
    assert.equal(await store.share(b, 'key', 'acquire'), 'do')
  }),

  storeCase('share: what a removal that was not settled may still do is waited for', async ({ store }) => {
    const [a, b] = await running(store, 'a', 'b')
    assert.ok(a && b)
    await store.share(a, 'key', 'acquire')
    await store.share(a, 'key', 'settle')
    assert.equal(await store.share(a, 'key', 'release'), 'do')
    assert.equal(await store.share(b, 'key', 'recreate'), 'busy', 'its holder is still at it')
    await store.finish(a, ({ finishing }) => ({ deleteOperations: [finishing.id] }))
    assert.equal(await store.share(b, 'key', 'acquire'), 'quiet')
    assert.equal(await store.share(b, 'key', 'acquire'), 'quiet', 'as often as it asks')
    assert.equal(await store.share(b, 'key', 'recreate'), 'do')
    assert.equal(await store.share(b, 'key', 'acquire'), 'do', 'it has waited once')
    assert.equal(await store.share(b, 'key', 'settle'), 'ready')
    assert.equal(await store.share(b, 'key', 'acquire'), 'ready')
  }),

  storeCase('share: a holder whose row is forgotten is gone', async ({ store }) => {
    const [a, b] = await running(store, 'a', 'b')
    assert.ok(a && b)
    await store.share(a, 'key', 'acquire')
    await store.finish(a, ({ finishing }) => ({ deleteOperations: [finishing.id] }))
    assert.equal(await store.share(b, 'key', 'acquire'), 'do')
  }),

  storeCase('share: the claim is the instance’s, and outlives its operation', async ({ store }) => {
    const [a] = await running(store, 'a')
    assert.ok(a)
    await store.share(a, 'key', 'acquire')
    await store.share(a, 'key', 'settle')
    await finish(store, a)
    const [b] = await running(store, 'b')
    assert.ok(b)
    assert.equal(await store.share(b, 'key', 'acquire'), 'ready')
    assert.equal(await store.share(b, 'key', 'release'), 'ready', 'a still claims it')
  }),

  storeCase('share: those that claim it and are observed are found, and no others', async ({ store }) => {
    const long = `key ${'k'.repeat(300)}`
    const [a, b, c, d] = await running(store, 'a', 'b', 'c', 'd')
    assert.ok(a && b && c && d)
    assert.deepEqual(await store.claimants('key', 5), [])
    for (const lease of [a, b, c]) await store.share(lease, 'key', 'acquire')
    await store.share(d, long, 'acquire')
    assert.deepEqual(await store.claimants('key', 5), [], 'nobody is observed yet')
    for (const [id, lease] of Object.entries({ a, b, c, d }))
      await store.finish(lease, ({ instance, finishing }) => {
        const observed = instance && { ...instance, observeAt: id === 'b' ? undefined : 5 }
        return { instance: observed, deleteOperations: [finishing.id] }
      })
    assert.deepEqual([...(await store.claimants('key', 5))].sort(), ['a', 'c'])
    assert.deepEqual(await store.claimants(long, 5), ['d'])
    const [first] = await store.claimants('key', 1)
    assert.deepEqual(await store.claimants('key', 1), [first], 'the same one each time')
    assert.deepEqual(await store.claimants('key', 0), [])
  }),

  storeCase('share: of many at once exactly one creates', async ({ store }) => {
    const leases = await running(store, ...Array.from({ length: 20 }, (_, index) => `i${index}`))
    const answers = await Promise.all(leases.map(lease => store.share(lease, 'key', 'acquire')))
    assert.equal(answers.filter(answer => answer === 'do').length, 1)
    assert.equal(answers.filter(answer => answer === 'busy').length, 19)
  }),
]
