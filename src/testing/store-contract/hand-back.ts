import { assert } from './assert.ts'
import { claimOne, finish, leaseOf, leaseTime, provision, supersede, view } from './rows.ts'
import { storeCase } from './subject.ts'

export const handBackCases = [
  storeCase('handBack: a running operation is due again at once, and nothing is counted', async ({ store, clock }) => {
    await provision(store, 'i', { description: 'working' })
    const { operation } = await claimOne(store)
    await clock.advance(5)
    await store.handBack({ operationId: operation.id, fence: operation.fence })
    const { leaseOwner: _owner, leaseUntil: _until, ...rest } = operation
    assert.deepEqual(await store.operation(operation.id), { ...rest, state: 'queued', notBefore: clock.now() })
    const again = await claimOne(store)
    assert.deepEqual([again.operation.attempt, again.operation.losses, again.takenOver], [2, 0, false])
  }),

  storeCase('handBack: keeps the losses that were counted before', async ({ store, clock }) => {
    await provision(store, 'i')
    await claimOne(store)
    await clock.advance(leaseTime)
    await store.handBack(leaseOf(await claimOne(store)))
    assert.equal((await store.operation('i:provision'))?.losses, 1)
  }),

  storeCase('handBack: a superseded operation lets its successor start', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await supersede(store, 'i', 'delete')
    assert.equal((await store.claim('w', 1, leaseTime)).claims.length, 0)
    await clock.advance(5)
    await store.handBack(lease)
    const superseded = await store.operation('i:provision')
    assert.deepEqual([superseded?.state, superseded?.leaseUntil], ['superseded', clock.now()])
    assert.equal((await store.operation('delete'))?.notBefore, clock.now())
    assert.equal((await claimOne(store)).operation.id, 'delete')
  }),

  storeCase('handBack: a successor that is due already is not put off', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await supersede(store, 'i', 'delete')
    const due = clock.now() + leaseTime
    await clock.advance(leaseTime + 5)
    await store.handBack(lease)
    assert.equal((await store.operation('delete'))?.notBefore, due)
  }),

  storeCase('handBack: a successor that runs already is left alone', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await supersede(store, 'i', 'delete')
    await clock.advance(leaseTime)
    const { operation } = await claimOne(store)
    await store.handBack(lease)
    assert.deepEqual(await store.operation('delete'), operation)
  }),

  storeCase('handBack: a successor that has ended is left alone', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await supersede(store, 'i', 'delete')
    await supersede(store, 'i', 'second delete')
    const ended = await store.operation('delete')
    await clock.advance(5)
    await store.handBack(lease)
    assert.equal(ended?.state, 'superseded')
    assert.deepEqual(await store.operation('delete'), ended)
  }),

  storeCase('handBack: an older holder does not open the way', async ({ store, clock }) => {
    await provision(store, 'i')
    const old = leaseOf(await claimOne(store))
    await clock.advance(leaseTime)
    await claimOne(store)
    await supersede(store, 'i', 'delete')
    const before = await view(store, 'i', 'i:provision', 'delete')
    await store.handBack(old)
    assert.deepEqual(await view(store, 'i', 'i:provision', 'delete'), before)
    assert.equal((await store.claim('w', 1, leaseTime)).claims.length, 0)
  }),

  storeCase(
    'handBack: lost, finished, parked or unknown leases change nothing and are not an error',
    async ({ store, clock }) => {
      for (const id of ['lost', 'finished', 'parked']) await provision(store, id)
      const leases = (await store.claim('w', 3, leaseTime)).claims.map(leaseOf)
      const [lost, finished, parked] = leases
      assert.ok(lost && finished && parked)
      await finish(store, finished)
      await store.park(parked, { until: clock.now() + leaseTime * 9 })
      await clock.advance(leaseTime)
      await claimOne(store)
      const look = () => Promise.all(leases.map(lease => store.operation(lease.operationId)))
      const before = await look()
      for (const lease of [...leases, { operationId: 'unknown', fence: 1 }]) await store.handBack(lease)
      assert.deepEqual(await look(), before)
    },
  ),
]
