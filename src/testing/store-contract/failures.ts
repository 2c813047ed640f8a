import type { Store } from '../../store.ts'
import { assert } from './assert.ts'
import { claimOne, leaseOf, present, provision, stepRow } from './rows.ts'
import { storeCase } from './subject.ts'

async function fail(store: Store, id: string, acceptedAt: number): Promise<void> {
  await provision(store, id, { acceptedAt })
  const error = { message: `of ${id}`, step: 'create', fingerprint: 'f' }
  await store.finish(leaseOf(await claimOne(store)), ({ finishing, now }) => ({
    operations: [{ ...finishing, state: 'failed', finishedAt: now, error }],
  }))
}

export const failureCases = [
  storeCase(
    'failures: what has failed, the latest accepted first, and nothing that succeeded',
    async ({ store, clock }) => {
      await fail(store, 'i', 20)
      await fail(store, 'j', 30)
      await fail(store, 'k', 10)
      await provision(store, 'waits')
      const found = await store.failures(2)
      assert.deepEqual(
        found.map(({ id }) => id),
        ['j:provision', 'i:provision'],
      )
      const [first] = found
      assert.ok(first)
      assert.deepEqual(present(first), {
        id: 'j:provision',
        instanceId: 'j',
        serviceId: 'service',
        action: 'provision',
        error: { message: 'of j', step: 'create', fingerprint: 'f' },
        acceptedAt: 30,
        finishedAt: clock.now(),
      })
    },
  ),

  storeCase('failures: what tries again, with each step that has failed and without its output', async ({ store }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('one', { output: 'secret' }) })
    const failed = stepRow('two', { state: 'failed', error: 'no', failedAt: 7, fingerprint: 'f' })
    await store.park(lease, { until: 9_000_000_000_000, step: failed })
    const found = await store.failures(10)
    assert.deepEqual(
      found.map(({ id, step }) => ({ id, step })),
      [{ id: 'i:provision', step: failed }],
    )
  }),
]
