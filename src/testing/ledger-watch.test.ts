import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/index.ts'
import type { Store } from '../store.ts'
import { createLedgerWatch } from './ledger-watch.ts'
import { claimOne, finish, leaseOf, operationRow, provision, stepRow } from './store-contract/rows.ts'
import { createVirtualClock } from './virtual-clock.ts'

/** A ledger that forgets between two calls what it has promised: each call goes to a fresh one. */
function createForgetful(): Store {
  const fresh = () => createMemoryStore({ clock: createVirtualClock() })
  return {
    ...fresh(),
    accept: (target, decide) => fresh().accept(target, decide),
    checkpoint: async () => true,
    async claim(owner, max, leaseMs) {
      const store = fresh()
      await provision(store, 'i')
      return store.claim(owner, max, leaseMs)
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
})
