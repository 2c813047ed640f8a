import type { Chore, ChoreLease, Store } from '../../store.ts'
import { assert } from './assert.ts'
import { leaseTime } from './rows.ts'
import { durableStoreCase, storeCase } from './subject.ts'

const done = { ok: true, message: 'removed 3 operations' }

/** Takes the chore and insists that it was to be had. */
async function take(store: Store, name: string, dueAt: number, owner = 'w'): Promise<ChoreLease> {
  const lease = await store.takeChore({ name, dueAt, owner, leaseTime })
  assert.ok(lease, `the chore ${name} was due at ${dueAt}, and was not to be had`)
  return lease
}

async function rowOf(store: Store, name: string): Promise<Chore | undefined> {
  return (await store.chores()).chores.find(chore => chore.name === name)
}

export const choreCases = [
  storeCase('chores: a ledger begins without any, and tells its clock', async ({ store, clock }) => {
    assert.deepEqual(await store.chores(), { now: clock.now(), chores: [] })
    await clock.advance(5)
    assert.equal((await store.chores()).now, clock.now())
  }),

  storeCase('chores: taken, and ended, is told in full', async ({ store, clock }) => {
    const startedAt = clock.now()
    const lease = await take(store, 'purge', startedAt - 7, 'me')
    const row = { name: 'purge', dueAt: startedAt - 7, owner: 'me', startedAt, fence: lease.fence }
    assert.deepEqual(await rowOf(store, 'purge'), { ...row, leaseUntil: startedAt + leaseTime })
    await clock.advance(10)
    assert.equal(await store.finishChore(lease, done), true)
    assert.deepEqual(await rowOf(store, 'purge'), { ...row, finishedAt: clock.now(), result: done })
  }),

  storeCase('chores: a failure is told, too, and the next run begins without it', async ({ store, clock }) => {
    const result = { ok: false, message: 'the backend said: no\u0000\n“now”' }
    await store.finishChore(await take(store, 'purge', clock.now()), result)
    assert.deepEqual((await rowOf(store, 'purge'))?.result, result)
    await clock.advance(1)
    await take(store, 'purge', clock.now())
    const row = await rowOf(store, 'purge')
    assert.deepEqual([row?.result, row?.finishedAt, row?.startedAt], [undefined, undefined, clock.now()])
  }),

  storeCase('chores: each period is taken once', async ({ store, clock }) => {
    const dueAt = clock.now()
    const lease = await take(store, 'purge', dueAt)
    assert.equal(await store.takeChore({ name: 'purge', dueAt, owner: 'other', leaseTime }), undefined, 'it is held')
    await store.finishChore(lease, done)
    assert.equal(await store.takeChore({ name: 'purge', dueAt, owner: 'other', leaseTime }), undefined, 'it is done')
    assert.equal(
      await store.takeChore({ name: 'purge', dueAt: dueAt - 1, owner: 'other', leaseTime }),
      undefined,
      'a later one is done',
    )
    await clock.advance(leaseTime * 2)
    assert.equal(await store.takeChore({ name: 'purge', dueAt, owner: 'other', leaseTime }), undefined, 'it stays done')
    assert.ok((await take(store, 'purge', dueAt + 1)).fence > lease.fence)
  }),

  storeCase('chores: a period that lies ahead is refused', async ({ store, clock }) => {
    assert.equal(await store.takeChore({ name: 'purge', dueAt: clock.now() + 1, owner: 'ahead', leaseTime }), undefined)
    assert.deepEqual((await store.chores()).chores, [])
    await clock.advance(1)
    await take(store, 'purge', clock.now())
  }),

  storeCase('chores: a later period waits for the run before it', async ({ store, clock }) => {
    const lease = await take(store, 'purge', clock.now())
    await clock.advance(leaseTime - 1)
    assert.equal(await store.takeChore({ name: 'purge', dueAt: clock.now(), owner: 'w', leaseTime }), undefined)
    await store.finishChore(lease, done)
    await take(store, 'purge', clock.now())
  }),

  storeCase('chores: a run whose holder is gone is taken over, once, with a new fence', async ({ store, clock }) => {
    const dueAt = clock.now()
    const old = await take(store, 'purge', dueAt, 'gone')
    await clock.advance(leaseTime)
    assert.equal(
      await store.takeChore({ name: 'purge', dueAt: dueAt - 1, owner: 'thief', leaseTime }),
      undefined,
      'an earlier period',
    )
    const lease = await take(store, 'purge', dueAt, 'heir')
    assert.ok(lease.fence > old.fence)
    assert.equal(await store.takeChore({ name: 'purge', dueAt, owner: 'other', leaseTime }), undefined)
    assert.equal(await store.renewChore(old, leaseTime), false)
    assert.equal(await store.finishChore(old, { ok: false, message: 'late' }), false)
    const row = await rowOf(store, 'purge')
    assert.deepEqual([row?.owner, row?.fence, row?.result], ['heir', lease.fence, undefined])
    assert.equal(await store.finishChore(lease, done), true)
  }),

  storeCase('chores: a lost run does not stand in the way of a later period', async ({ store, clock }) => {
    await take(store, 'purge', clock.now())
    await clock.advance(leaseTime)
    await take(store, 'purge', clock.now())
    assert.equal((await rowOf(store, 'purge'))?.dueAt, clock.now())
  }),

  storeCase('chores: a renewed run is not taken over; one that is over is not revived', async ({ store, clock }) => {
    const dueAt = clock.now()
    const lease = await take(store, 'purge', dueAt)
    await clock.advance(leaseTime - 1)
    assert.equal(await store.renewChore(lease, leaseTime), true)
    assert.equal((await rowOf(store, 'purge'))?.leaseUntil, clock.now() + leaseTime)
    await clock.advance(leaseTime - 1)
    assert.equal(await store.takeChore({ name: 'purge', dueAt, owner: 'thief', leaseTime }), undefined)
    await clock.advance(1)
    assert.equal(await store.renewChore(lease, leaseTime), false)
    await take(store, 'purge', dueAt, 'heir')
  }),

  storeCase('chores: who ends late ends all the same, if nobody has taken over', async ({ store, clock }) => {
    const lease = await take(store, 'purge', clock.now())
    await clock.advance(leaseTime * 2)
    assert.equal(await store.finishChore(lease, done), true)
    assert.equal(await store.finishChore(lease, { ok: false, message: 'again' }), false)
    assert.equal(await store.renewChore(lease, leaseTime), false)
    assert.deepEqual((await rowOf(store, 'purge'))?.result, done)
  }),

  storeCase('chores: names are apart, and listed in their order', async ({ store, clock }) => {
    const purge = await take(store, 'purge', clock.now())
    await take(store, 'clean-up-instances-all', clock.now())
    const observe = await take(store, 'observe', clock.now())
    assert.equal(await store.finishChore({ name: 'observe', fence: observe.fence + 1_000 }, done), false)
    await store.finishChore(observe, done)
    assert.deepEqual(
      (await store.chores()).chores.map(({ name, finishedAt }) => [name, finishedAt !== undefined]),
      [
        ['clean-up-instances-all', false],
        ['observe', true],
        ['purge', false],
      ],
    )
    assert.equal(await store.renewChore({ name: 'unknown', fence: purge.fence }, leaseTime), false)
  }),

  storeCase('chores: of twenty that ask at once, one gets the period', async ({ store, clock }) => {
    for (let round = 0; round < 5; round += 1) {
      const dueAt = clock.now()
      const asked = Array.from({ length: 20 }, (_, index) =>
        store.takeChore({ name: 'purge', dueAt, owner: `w${index}`, leaseTime }),
      )
      const [lease, ...others] = (await Promise.all(asked)).filter(taken => taken !== undefined)
      assert.ok(lease)
      assert.deepEqual(others, [])
      assert.equal((await rowOf(store, 'purge'))?.fence, lease.fence)
      // Every other run is lost: its successors take over, and again it is one of them.
      if (round % 2 === 0) await store.finishChore(lease, done)
      await clock.advance(leaseTime)
    }
  }),

  storeCase('chores: an end and a take-over never both happen', async ({ store, clock }) => {
    for (let round = 0; round < 5; round += 1) {
      const dueAt = clock.now()
      const lease = await take(store, 'purge', dueAt)
      await clock.advance(leaseTime)
      const [finished, heir] = await Promise.all([
        store.finishChore(lease, done),
        store.takeChore({ name: 'purge', dueAt, owner: 'heir', leaseTime }),
      ])
      assert.equal(finished, heir === undefined)
      if (heir !== undefined) await store.finishChore(heir, done)
    }
  }),

  durableStoreCase('chores: what was taken and ended survives', async ({ store, clock, reopen }) => {
    const held = await take(store, 'observe', clock.now())
    await store.finishChore(await take(store, 'purge', clock.now()), done)
    const before = await store.chores()
    const again = await reopen()
    assert.deepEqual(await again.chores(), before)
    assert.equal(await again.takeChore({ name: 'purge', dueAt: clock.now(), owner: 'w', leaseTime }), undefined)
    assert.equal(await again.takeChore({ name: 'observe', dueAt: clock.now(), owner: 'w', leaseTime }), undefined)
    assert.equal(await again.renewChore(held, leaseTime), true)
  }),
]
