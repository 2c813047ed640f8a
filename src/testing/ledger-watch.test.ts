import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/index.ts'
import type { Store } from '../store.ts'
import { createLedgerWatch } from './ledger-watch.ts'
import { change, pin, revisionRow } from './store-contract/catalog-rows.ts'
import { claimOne, finish, leaseOf, operationRow, provision, stepRow } from './store-contract/rows.ts'
import { createVirtualClock } from './virtual-clock.ts'

/** A ledger that forgets between two calls what it has promised: each call goes to a fresh one. */
function createForgetful(): Store {
  const fresh = () => createMemoryStore({ clock: createVirtualClock() })
  return {
    ...fresh(),
    accept: (target, decide) => fresh().accept(target, decide),
    checkpoint: async () => true,
    async claim(owner, max, leaseTime) {
      const store = fresh()
      await provision(store, 'i')
      return store.claim(owner, max, leaseTime)
    },
  }
}

describe('the ledger watch', () => {
  it('finds nothing wrong with a ledger that keeps its promises', async () => {
    const watch = createLedgerWatch()
    const store = watch.wrap(createMemoryStore({ clock: createVirtualClock() }))
    await provision(store, 'i')
    expect(watch.active().map(({ id }) => id)).toEqual(['i:provision'])
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('one') })
    await finish(store, lease)
    expect(watch.active()).toEqual([])
    expect(watch.operations().get('i:provision')?.state).toBe('succeeded')
    expect([...watch.steps()]).toEqual([['i:provision/one', 1]])
    expect(watch.underWay()).toBe(0)
    expect(watch.problems()).toEqual([])
  })

  it('sees two active operations of one resource', async () => {
    const watch = createLedgerWatch()
    const store = watch.wrap(createForgetful())
    await provision(store, 'i')
    await provision(store, 'i', { id: 'second' })
    expect(watch.problems()).toEqual(['provision second of instance i is active beside i:provision'])
  })

  it('sees an instance whose revision was deleted', async () => {
    const watch = createLedgerWatch()
    const ledger = createMemoryStore({ clock: createVirtualClock() })
    const store = watch.wrap(ledger)
    await change(store, { insertRevisions: [revisionRow('r')] })
    await pin(store, 'i', { revisionId: 'r' })
    await change(store, { deleteRevisions: ['r'] })
    expect(watch.problems()).toEqual([])
    const careless = watch.wrap({ ...ledger, catalog: async () => ({ version: 1, services: [], revisions: [] }) })
    await change(careless, { deleteRevisions: ['r'] })
    expect(watch.problems()).toEqual(['instance i is pinned to revision r, which was deleted'])
  })

  it('sees a result that changes', async () => {
    const watch = createLedgerWatch()
    const store = watch.wrap(createForgetful())
    await provision(store, 'i', { state: 'failed' })
    await provision(store, 'i', { state: 'succeeded' })
    expect(watch.problems()).toEqual(['provision i:provision of instance i was failed and became succeeded'])
  })

  it('sees a step that is committed twice, and a fence that does not rise', async () => {
    const watch = createLedgerWatch()
    const store = watch.wrap(createForgetful())
    const lease = { operationId: operationRow('o', 'i').id, fence: 1 }
    for (const _ of [1, 2]) await store.checkpoint(lease, { step: stepRow('one') })
    for (const _ of [1, 2]) await store.claim('worker', 1, 1_000)
    expect(watch.problems()).toEqual([
      'the step o/one was committed 2 times',
      'provision i:provision of instance i was claimed with an old fence',
    ])
  })

  it('sees what is created before what was deleted under its id is swept', async () => {
    const watch = createLedgerWatch()
    const store = watch.wrap(createMemoryStore({ clock: createVirtualClock() }))
    await provision(store, 'i', { input: { sweepFirst: { sweep: operationRow('s', 'i', { action: 'sweep' }) } } })
    const [claim] = (await store.claim('worker', 1, 1_000)).claims
    const lease = { operationId: 'i:provision', fence: claim?.operation.fence ?? 0 }
    await store.checkpoint(lease, { step: stepRow('s: delete') })
    expect(watch.problems()).toEqual([])
    await store.checkpoint(lease, { step: stepRow('create') })
    await store.checkpoint(lease, { state: {} })
    await store.finish(lease, ({ finishing }) => ({ operations: [{ ...finishing, state: 'succeeded' }] }))
    const early = 'provision i:provision of instance i began before what was deleted under its id was swept'
    const end = 'provision i:provision of instance i succeeded before what was deleted under its id was swept'
    expect(watch.problems()).toEqual([early, early, end])
  })

  it('sees a chore whose period is done twice, and a fence of it that does not rise', async () => {
    const watch = createLedgerWatch()
    const store = watch.wrap({
      ...createForgetful(),
      takeChore: async ({ name }) => ({ name, fence: 1 }),
      finishChore: async () => true,
    })
    for (const _ of [1, 2]) {
      const lease = await store.takeChore({ name: 'purge', dueAt: 5, owner: 'w', leaseTime: 1_000 })
      if (lease !== undefined) await store.finishChore(lease, { ok: true, message: '' })
    }
    expect(watch.problems()).toEqual([
      'the chore purge was taken with an old fence',
      'the chore purge was taken for 5, which was done before',
    ])
  })

  it.each(['cleanUp', 'purge'] as const)('sees a %s that removes what is active', async method => {
    const watch = createLedgerWatch()
    const kept = createMemoryStore({ clock: createVirtualClock() })
    const store = watch.wrap({ ...kept, [method]: async () => 1, operation: async () => undefined })
    await provision(store, 'i')
    if (method === 'purge') await store.purge(0, 1)
    else await store.cleanUp({ of: 'instances', states: [], before: 0, max: 1 })
    expect(watch.problems()).toEqual(['provision i:provision of instance i was removed while it was active'])
  })

  it('finds nothing wrong with chores, clean-ups and purges of a ledger that keeps its promises', async () => {
    const watch = createLedgerWatch()
    const clock = createVirtualClock()
    const store = watch.wrap(createMemoryStore({ clock }))
    await provision(store, 'i')
    for (const dueAt of [1, 2]) {
      const lease = await store.takeChore({ name: 'purge', dueAt, owner: 'w', leaseTime: 1_000 })
      if (lease === undefined) throw new Error('the chore was not to be had')
      expect(await store.renewChore(lease, 1_000)).toBe(true)
      expect(await store.cleanUp({ of: 'instances', states: ['succeeded'], before: clock.now(), max: 5 })).toBe(0)
      expect(await store.purge(clock.now(), 5)).toBe(0)
      expect(await store.finishChore(lease, { ok: true, message: '' })).toBe(true)
    }
    expect((await store.chores()).chores).toHaveLength(1)
    expect([watch.problems(), watch.underWay()]).toEqual([[], 0])
  })
})
