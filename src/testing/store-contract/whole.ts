import { StoreUnavailableError } from '../../store.ts'
import { assert } from './assert.ts'
import { changesOf } from './catalog-rows.ts'
import { claimOne, leaseOf, leaseTime, provision } from './rows.ts'
import { storeCase } from './subject.ts'

/** What no single contract has. */
export const wholeCases = [
  storeCase('close: everything is refused afterwards, as unavailable', async ({ store }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await store.ping()
    await store.close()
    await store.close()
    const refused = (promise: Promise<unknown>) => assert.rejects(promise, StoreUnavailableError)
    await refused(store.accept({ instanceId: 'i' }, () => ({ answer: 0 })))
    await refused(store.claim('w', 1, leaseTime))
    await refused(store.renew([lease], leaseTime))
    await refused(store.checkpoint(lease, {}))
    await refused(store.park(lease, { until: 1 }))
    await refused(store.finish(lease, () => ({})))
    await refused(store.handBack(lease))
    await refused(store.share(lease, 'key', 'acquire'))
    await refused(store.instance('i'))
    await refused(store.binding('i', 'b'))
    await refused(store.bindings('i'))
    await refused(store.claimants('key', 1))
    await refused(store.operation('o'))
    await refused(store.dueForObservation(1))
    await refused(store.dueForExpiry(1))
    await refused(store.steps('o'))
    await refused(store.history('i'))
    await refused(store.listInstances())
    await refused(store.listBindings())
    await refused(store.listOperations())
    await refused(store.catalog())
    await refused(store.catalog(0))
    await refused(store.registries())
    await refused(store.revisionUses())
    await refused(store.changeCatalog(0, changesOf({})))
    await refused(store.ping())
  }),

  storeCase('name: says what it is', async ({ store }) => {
    assert.match(store.name, /^[a-z]+:/)
  }),
]
