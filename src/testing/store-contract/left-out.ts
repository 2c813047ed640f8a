import type { Store } from '../../store.ts'
import { assert } from './assert.ts'
import { claimOne, leaseTime, present, provision } from './rows.ts'
import { storeCase } from './subject.ts'

const strange = `Ü "quoted" \\ ${'x'.repeat(300)}`

async function claimed(store: Store, max: number, services: readonly string[], platforms: readonly string[] = []) {
  const { claims, nextAt } = await store.claim('w', max, leaseTime, { services, platforms })
  return { ids: claims.map(claim => claim.instance.id), nextAt }
}

export const leftOutCases = [
  storeCase('claim: takes nothing of a service that is left out, however long it waits', async ({ store }) => {
    await provision(store, 'slow1', { serviceId: 'slow', notBefore: 1 })
    await provision(store, 'slow2', { serviceId: 'slow', notBefore: 2 })
    await provision(store, 'quick1', { serviceId: 'quick', notBefore: 3 })
    await provision(store, 'slow3', { serviceId: 'slow', notBefore: 4 })
    await provision(store, 'quick2', { serviceId: 'quick', notBefore: 5 })
    await provision(store, 'quick3', { serviceId: 'quick', notBefore: 6 })
    assert.deepEqual(await claimed(store, 2, ['slow', 'another']), { ids: ['quick1', 'quick2'], nextAt: 6 })
    assert.deepEqual((await claimed(store, 9, ['quick'])).ids, ['slow1', 'slow2', 'slow3'])
    assert.equal((await claimOne(store)).instance.id, 'quick3')
  }),

  storeCase('claim: the next one is not one that is left out', async ({ store, clock }) => {
    await provision(store, 'slow', { serviceId: 'slow', notBefore: 1 })
    assert.deepEqual(await claimed(store, 5, ['slow']), { ids: [], nextAt: undefined })
    const later = clock.now() + 1_000
    await provision(store, 'quick', { serviceId: 'quick', notBefore: later })
    assert.deepEqual(await claimed(store, 5, ['slow']), { ids: [], nextAt: later })
    assert.equal((await store.operation('slow:provision'))?.state, 'queued')
  }),

  storeCase(
    'claim: a lease of what is left out that has run out is nobody’s to take over',
    async ({ store, clock }) => {
      await provision(store, 'slow', { serviceId: 'slow' })
      await store.claim('lost', 1, 1_000)
      await clock.advance(1_000)
      assert.deepEqual((await claimed(store, 5, ['slow'])).ids, [])
      assert.equal((await claimOne(store)).takenOver, true)
    },
  ),

  storeCase('claim: platforms are left out as well, and names of any kind', async ({ store }) => {
    await provision(store, 'cf', { platform: 'cf', notBefore: 1 })
    await provision(store, 'kube', { platform: 'kube/east', notBefore: 2 })
    await provision(store, 'none', { notBefore: 3 })
    await provision(store, 'strange', { platform: strange, serviceId: strange, notBefore: 4 })
    assert.deepEqual((await claimed(store, 1, [], ['cf', 'kube/east', strange])).ids, ['none'])
    assert.deepEqual((await claimed(store, 1, [strange], ['cf'])).ids, ['kube'])
    assert.deepEqual((await claimed(store, 9, [strange])).ids, ['cf'])
    assert.deepEqual((await claimed(store, 9, [], [strange])).ids, [])
    assert.deepEqual((await claimed(store, 9, ['service'], ['cf'])).ids, ['strange'])
  }),

  storeCase('backlog: but for what is left out', async ({ store, clock }) => {
    await provision(store, 'slow', { serviceId: 'slow', platform: 'cf', notBefore: 1 })
    await claimOne(store)
    await provision(store, 'slow2', { serviceId: 'slow', platform: 'cf', notBefore: 1 })
    await provision(store, 'quick', { serviceId: 'quick', platform: 'kube', notBefore: 3 })
    const backlog = async (services: readonly string[], platforms: readonly string[] = []) =>
      present(await store.backlog(10, { services, platforms }))
    const now = clock.now()
    assert.deepEqual(await backlog(['slow']), { due: 1, dueSince: 3, running: 0, now })
    assert.deepEqual(await backlog([], ['kube']), { due: 1, dueSince: 1, running: 1, now })
    assert.deepEqual(await backlog(['slow'], ['kube']), { due: 0, running: 0, now })
  }),

  storeCase('take: an operation that the taker does not want waits in the queue', async ({ store }) => {
    let taken = 0
    const wanted: string[] = []
    const taker = {
      owner: 'taker',
      leaseTime,
      wants: ({ id }: { readonly id: string }) => wanted.push(id) < 0,
      taken: () => {
        taken += 1
      },
    }
    await provision(store, 'i', {}, taker)
    assert.ok(wanted.every(id => id === 'i:provision'))
    assert.equal(taken, 0)
    assert.equal((await store.operation('i:provision'))?.state, 'queued')
    assert.equal((await claimOne(store)).operation.attempt, 1)
  }),
]
