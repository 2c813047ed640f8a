import type { NameAnswer, Store } from '../../store.ts'
import { assert } from './assert.ts'
import { claimOne, leaseOf, leaseTime, provision, supersede } from './rows.ts'
import { durableStoreCase, storeCase } from './subject.ts'

const silence = 3_000
const day = 24 * 3_600_000

const take = (store: Store, owner: string, name = 'broker-0'): Promise<NameAnswer> =>
  store.takeName({ name, owner, silence })

/** The operation `i:provision`, claimed by `owner`. */
async function claimAs(store: Store, owner: string) {
  await provision(store, 'i')
  const { claims } = await store.claim(owner, 1, leaseTime)
  const [claim] = claims
  assert.ok(claim, 'the operation was not to be had')
  return leaseOf(claim)
}

export const nameCases = [
  storeCase('names: one owner has it, and another is told who and since when', async ({ store, clock }) => {
    const since = clock.now()
    assert.deepEqual(await take(store, 'a'), { taken: true, former: undefined })
    await clock.advance(10)
    assert.deepEqual(await take(store, 'b'), {
      taken: false,
      holder: { owner: 'a', since, seenAt: since },
      now: clock.now(),
    })
    assert.equal(await store.renewName('broker-0', 'b'), false)
    assert.equal(await store.renewName('broker-0', 'a'), true)
    assert.deepEqual(await take(store, 'b', 'broker-1'), { taken: true, former: undefined })
  }),

  storeCase('names: a holder that is seen keeps it, and one that is silent loses it', async ({ store, clock }) => {
    await take(store, 'a')
    for (let beat = 0; beat < 3; beat += 1) {
      await clock.advance(silence - 1)
      assert.equal(await store.renewName('broker-0', 'a'), true)
    }
    await clock.advance(silence - 1)
    assert.equal((await take(store, 'b')).taken, false)
    await clock.advance(1)
    assert.deepEqual(await take(store, 'b'), { taken: true, former: 'a' })
    assert.equal(await store.renewName('broker-0', 'a'), false)
    assert.equal((await take(store, 'a')).taken, false)
  }),

  storeCase('names: silence alone takes no name away', async ({ store, clock }) => {
    await take(store, 'a')
    await clock.advance(2 * day)
    assert.equal(await store.renewName('broker-0', 'a'), true)
    assert.equal((await take(store, 'b')).taken, false)
  }),

  storeCase('names: asked for twice by its owner, it is taken', async ({ store }) => {
    await take(store, 'a')
    assert.deepEqual(await take(store, 'a'), { taken: true, former: undefined })
  }),

  storeCase('names: given up, it is free at once; what is not ours is not given up', async ({ store }) => {
    await take(store, 'a')
    await store.releaseName('broker-0', 'b')
    assert.equal((await take(store, 'b')).taken, false)
    await store.releaseName('broker-0', 'a')
    assert.deepEqual(await take(store, 'b'), { taken: true, former: 'a' })
    await store.releaseName('unknown', 'a')
  }),

  storeCase('names: a day after the last sign, a name is forgotten', async ({ store, clock }) => {
    await take(store, 'a')
    await clock.advance(day)
    await take(store, 'b', 'broker-1')
    await clock.advance(1)
    await take(store, 'b', 'broker-2')
    assert.deepEqual(await take(store, 'b'), { taken: true, former: undefined })
  }),

  storeCase('names: a take-over ends the leases of the owner before, and of nobody else', async ({ store, clock }) => {
    await take(store, 'a')
    const old = await claimAs(store, 'a')
    await provision(store, 'j')
    const other = leaseOf(await claimOne(store))
    await clock.advance(silence)
    await take(store, 'b')
    const { claims } = await store.claim('b', 10, leaseTime)
    assert.deepEqual(
      claims.map(({ operation, takenOver }) => [operation.id, operation.losses, operation.unclean, takenOver]),
      [['i:provision', 1, true, true]],
    )
    assert.ok((claims[0]?.operation.fence ?? 0) > old.fence)
    assert.deepEqual(await store.renew([old, other], leaseTime), [other])
    assert.equal(await store.checkpoint(old, { description: 'late' }), false)
    assert.equal(await store.park(old, { until: 0 }), false)
  }),

  storeCase('names: after a take-over the former owner extends no lease', async ({ store, clock }) => {
    await take(store, 'a')
    const old = await claimAs(store, 'a')
    await clock.advance(silence)
    await take(store, 'b')
    assert.deepEqual(await store.renew([old], leaseTime), [])
    assert.equal((await store.operation('i:provision'))?.leaseUntil, clock.now())
  }),

  storeCase('names: a lease that is over stays as it is', async ({ store, clock }) => {
    await take(store, 'a')
    await claimAs(store, 'a')
    const end = clock.now() + leaseTime
    await clock.advance(leaseTime + 5)
    await take(store, 'b')
    assert.equal((await store.operation('i:provision'))?.leaseUntil, end)
  }),

  storeCase('names: a refusal ends no lease', async ({ store }) => {
    await take(store, 'a')
    const lease = await claimAs(store, 'a')
    await take(store, 'b')
    assert.deepEqual(await store.renew([lease], leaseTime), [lease])
  }),

  storeCase('names: a deletion that waits for a lease of the former owner can start', async ({ store, clock }) => {
    await take(store, 'a')
    await claimAs(store, 'a')
    await supersede(store, 'i', 'delete')
    await clock.advance(silence)
    assert.equal((await store.claim('b', 1, leaseTime)).claims.length, 0)
    await take(store, 'b')
    assert.equal((await claimOne(store)).operation.id, 'delete')
    assert.equal((await store.operation('i:provision'))?.leaseUntil, clock.now())
  }),

  storeCase('names: a chore of the former owner can be taken over', async ({ store, clock }) => {
    await take(store, 'a')
    const dueAt = clock.now()
    const of = (name: string, owner: string) => store.takeChore({ name, dueAt, owner, leaseTime })
    const old = await of('purge', 'a')
    await of('observe', 'w')
    await clock.advance(silence)
    await take(store, 'b')
    assert.ok(old !== undefined && (await store.renewChore(old, leaseTime)) === false)
    assert.ok(((await of('purge', 'b'))?.fence ?? 0) > old.fence)
    assert.equal(await of('observe', 'b'), undefined)
  }),

  storeCase('names: of twenty that ask at once, one gets it', async ({ store, clock }) => {
    for (let round = 0; round < 3; round += 1) {
      const asked = Array.from({ length: 20 }, (_, index) => take(store, `${round}/${index}`))
      const taken = (await Promise.all(asked)).filter(answer => answer.taken)
      assert.equal(taken.length, 1)
      await clock.advance(silence)
    }
  }),

  durableStoreCase('names: the one who had it is known after a restart', async ({ store, clock, reopen }) => {
    await take(store, 'a')
    await claimAs(store, 'a')
    const again = await reopen()
    await clock.advance(silence)
    assert.deepEqual(await take(again, 'b'), { taken: true, former: 'a' })
    assert.equal((await again.claim('b', 1, leaseTime)).claims.length, 1)
  }),
]
