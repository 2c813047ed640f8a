import { assert } from './assert.ts'
import { bind, claimOne, leaseOf, leaseTime, operationRow, provision, standing, stepRow } from './rows.ts'
import { storeCase } from './subject.ts'

/** Checkpoints and parking: what a worker writes in the middle of a run. */
export const progressCases = [
  storeCase('checkpoint: a done step is progress', async ({ store, clock }) => {
    await provision(store, 'i')
    await claimOne(store)
    await clock.advance(leaseTime)
    const claim = await claimOne(store)
    assert.equal(claim.operation.losses, 1)
    await clock.advance(5)
    assert.equal(await store.checkpoint(leaseOf(claim), { step: stepRow('one') }), true)
    assert.deepEqual(await store.operation('i:provision'), { ...claim.operation, losses: 0, checkpointAt: clock.now() })
  }),

  storeCase('checkpoint: a failed step, a description or a state alone are not', async ({ store, clock }) => {
    await provision(store, 'i')
    await claimOne(store)
    await clock.advance(leaseTime)
    const claim = await claimOne(store)
    const lease = leaseOf(claim)
    await clock.advance(5)
    assert.equal(await store.checkpoint(lease, { step: stepRow('one', { state: 'failed', error: 'no' }) }), true)
    assert.equal(await store.checkpoint(lease, { state: { a: 1 } }), true)
    assert.equal(await store.checkpoint(lease, { description: 'halfway' }), true)
    assert.equal(await store.checkpoint(lease, {}), true)
    assert.deepEqual(await store.operation('i:provision'), { ...claim.operation, description: 'halfway' })
  }),

  storeCase('checkpoint: a failed step is replaced by its next attempt, in its place', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('one', { state: 'failed', attempts: 1, error: 'no' }) })
    await store.checkpoint(lease, { step: stepRow('two') })
    await store.checkpoint(lease, { step: stepRow('one', { attempts: 2, output: 'yes' }) })
    await store.park(lease, { until: clock.now() })
    assert.deepEqual((await claimOne(store)).steps, [stepRow('one', { attempts: 2, output: 'yes' }), stepRow('two')])
  }),

  storeCase('checkpoint: a done step is never written again', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('one', { output: 1 }) })
    const before = await store.operation('i:provision')
    await clock.advance(5)
    await assert.rejects(store.checkpoint(lease, { description: 'again', step: stepRow('one', { output: 2 }) }))
    await assert.rejects(store.checkpoint(lease, { step: stepRow('one', { state: 'failed' }) }))
    await assert.rejects(store.park(lease, { until: 1, step: stepRow('one', { state: 'failed' }) }))
    assert.deepEqual(await store.operation('i:provision'), before)
    await store.park(lease, { until: clock.now() })
    assert.deepEqual((await claimOne(store)).steps, [stepRow('one', { output: 1 })])
  }),

  storeCase('checkpoint: steps belong to their operation', async ({ store, clock }) => {
    for (const id of ['a', 'b']) await provision(store, id)
    const { claims } = await store.claim('w', 2, leaseTime)
    const leases = claims.map(leaseOf)
    for (const [index, lease] of leases.entries()) {
      await store.checkpoint(lease, { step: stepRow('same name', { output: index }) })
      await store.park(lease, { until: clock.now() })
    }
    const again = await store.claim('w', 2, leaseTime)
    assert.deepEqual(
      again.claims.map(({ steps }) => steps.map(step => step.output)),
      [[0], [1]],
    )
  }),

  storeCase('checkpoint: the state of an instance operation is the instance’s', async ({ store }) => {
    await standing(store, 'i', { state: { old: 1 }, parameters: { kept: true } })
    await bind(store, 'i', 'b', { state: 'succeeded' })
    const before = await store.instance('i')
    const update = operationRow('update', 'i', { action: 'update' })
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { operations: [update] } }))
    await store.checkpoint(leaseOf(await claimOne(store)), { state: { new: 2 } })
    assert.ok(before)
    assert.deepEqual(await store.instance('i'), { ...before, state: { new: 2 } })
    assert.deepEqual((await store.binding('i', 'b'))?.state, {})
  }),

  storeCase('checkpoint: the state of a binding operation is the binding’s', async ({ store }) => {
    await standing(store, 'i', { state: { of: 'instance' } })
    await bind(store, 'i', 'b')
    await bind(store, 'i', 'c')
    await store.checkpoint(leaseOf(await claimOne(store)), { state: { of: 'b' } })
    assert.deepEqual((await store.instance('i'))?.state, { of: 'instance' })
    assert.deepEqual((await store.binding('i', 'b'))?.state, { of: 'b' })
    assert.deepEqual((await store.binding('i', 'c'))?.state, {})
  }),

  storeCase('park: back to the queue until a time, without a lease', async ({ store, clock }) => {
    await provision(store, 'i')
    const claim = await claimOne(store)
    const until = clock.now() + 500
    assert.equal(await store.park(leaseOf(claim), { until, description: 'starting' }), true)
    const { leaseOwner: _owner, leaseUntil: _until, ...rest } = claim.operation
    const parked = { ...rest, state: 'queued', notBefore: until, description: 'starting' }
    assert.deepEqual(await store.operation('i:provision'), parked)
    assert.equal((await store.claim('w', 1, leaseTime)).nextAt, until)
    await clock.advance(500)
    const { operation, takenOver } = await claimOne(store)
    assert.deepEqual([operation.attempt, operation.losses, operation.unclean, takenOver], [2, 0, false, false])
  }),

  storeCase(
    'park: keeps the description where none is given, and the step that is the reason',
    async ({ store, clock }) => {
      await provision(store, 'i', { description: 'before' })
      const step = stepRow('one', { state: 'failed', attempts: 3, error: 'refused' })
      await store.park(leaseOf(await claimOne(store)), { until: clock.now(), step })
      const claim = await claimOne(store)
      assert.deepEqual([claim.operation.description, claim.steps], ['before', [step]])
    },
  ),

  storeCase(
    'checkpoint, park, finish: a lease that is over but was not taken still writes',
    async ({ store, clock }) => {
      await provision(store, 'i')
      const lease = leaseOf(await claimOne(store))
      await clock.advance(leaseTime * 2)
      assert.equal(await store.checkpoint(lease, { step: stepRow('one') }), true)
      assert.equal(await store.share(lease, 'key', 'acquire'), 'do')
      assert.equal(await store.park(lease, { until: clock.now() }), true)
      const next = leaseOf(await claimOne(store))
      await clock.advance(leaseTime * 2)
      assert.equal(
        await store.finish(next, ({ finishing }) => ({ operations: [{ ...finishing, state: 'failed' }] })),
        true,
      )
      assert.equal((await store.operation('i:provision'))?.state, 'failed')
    },
  ),
]
