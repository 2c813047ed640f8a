import type { Lease, Store } from '../../store.ts'
import { assert } from './assert.ts'
import {
  bind,
  claimOne,
  finish,
  leaseOf,
  leaseTime,
  provision,
  saveState,
  standing,
  stepRow,
  supersede,
  view,
} from './rows.ts'
import { type Bench, storeCase } from './subject.ts'

/** Every write of a worker, and how the store says that the lease is lost. */
const writes: readonly (readonly [
  name: string,
  write: (store: Store, lease: Lease) => Promise<unknown>,
  lost: unknown,
])[] = [
  ['renew', (store, lease) => store.renew([lease], leaseTime), []],
  [
    'checkpoint',
    (store, lease) => store.checkpoint(lease, { description: 'late', step: stepRow('late'), state: { late: 1 } }),
    false,
  ],
  ['park', (store, lease) => store.park(lease, { until: 1, description: 'late', step: stepRow('late') }), false],
  ['finish', (store, lease) => finish(store, lease), false],
  ['share', (store, lease) => store.share(lease, 'key', 'acquire'), undefined],
  ['saveState of an observation', (store, lease) => saveState(store, 'i', lease, { late: 1 }), false],
]

/** How a lease can be lost. Each leaves an operation on instance `i` whose old lease is the result. */
const losses: readonly (readonly [how: string, lose: (bench: Bench) => Promise<Lease>])[] = [
  [
    'taken over',
    async ({ store, clock }) => {
      const lease = leaseOf(await claimOne(store))
      await clock.advance(leaseTime)
      await claimOne(store, 'thief')
      return lease
    },
  ],
  [
    'superseded',
    async ({ store }) => {
      const lease = leaseOf(await claimOne(store))
      await supersede(store, 'i', 'delete')
      return lease
    },
  ],
  [
    'parked',
    async ({ store }) => {
      const lease = leaseOf(await claimOne(store))
      await store.park(lease, { until: 5 })
      return lease
    },
  ],
  [
    'handed back',
    async ({ store }) => {
      const lease = leaseOf(await claimOne(store))
      await store.handBack(lease)
      return lease
    },
  ],
  [
    'finished',
    async ({ store }) => {
      const lease = leaseOf(await claimOne(store))
      await finish(store, lease)
      return lease
    },
  ],
  [
    'never held',
    async ({ store }) => {
      const lease = leaseOf(await claimOne(store))
      return { ...lease, fence: lease.fence + 1 }
    },
  ],
]

export const fenceCases = [
  ...losses.flatMap(([how, lose]) =>
    writes.map(([name, write, lost]) =>
      storeCase(`fence: ${name} under a lease that was ${how} is refused and changes nothing`, async bench => {
        const { store } = bench
        await provision(store, 'i')
        const lease = await lose(bench)
        const before = await view(store, 'i', 'i:provision', 'delete')
        assert.deepEqual(await write(store, lease), lost)
        assert.deepEqual(await view(store, 'i', 'i:provision', 'delete'), before)
      }),
    ),
  ),

  storeCase(
    'fence: refused writes leave no step and no claim on a shared resource behind',
    async ({ store, clock }) => {
      await provision(store, 'i')
      const old = leaseOf(await claimOne(store))
      await clock.advance(leaseTime)
      const held = leaseOf(await claimOne(store))
      for (const [, write] of writes) await write(store, old)
      await store.park(held, { until: clock.now() })
      assert.deepEqual((await claimOne(store)).steps, [])
      await provision(store, 'other')
      const other = leaseOf(await claimOne(store))
      assert.equal(await store.share(other, 'key', 'acquire'), 'do')
      assert.equal(await store.share(other, 'key', 'settle'), 'ready')
      assert.equal(await store.share(other, 'key', 'release'), 'do', 'nobody else may claim the key')
    },
  ),

  storeCase('fence: the fence of one operation says nothing about another', async ({ store }) => {
    await standing(store, 'i')
    for (const id of ['a', 'b']) await bind(store, 'i', id)
    const [a, b] = (await store.claim('w', 2, leaseTime)).claims.map(leaseOf)
    assert.ok(a && b)
    assert.equal(await store.checkpoint({ operationId: a.operationId, fence: b.fence }, { state: { wrong: 1 } }), false)
    assert.deepEqual((await store.binding('i', 'a'))?.state, {})
  }),

  storeCase('fence: the new holder writes undisturbed', async ({ store, clock }) => {
    await provision(store, 'i')
    const old = leaseOf(await claimOne(store))
    await clock.advance(leaseTime)
    const held = leaseOf(await claimOne(store))
    assert.equal(await store.checkpoint(old, { state: { by: 'old' } }), false)
    assert.equal(await store.checkpoint(held, { state: { by: 'new' } }), true)
    assert.equal(await store.finish(old, () => ({})), false)
    assert.equal(await finish(store, held), true)
    assert.deepEqual((await store.instance('i'))?.state, { by: 'new' })
  }),
]
