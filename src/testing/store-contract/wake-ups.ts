import type { Store, WakeUp } from '../../store.ts'
import { assert } from './assert.ts'
import { catalogIn, changesOf, registryRow, revisionRow } from './catalog-rows.ts'
import { claimOne, finish, leaseOf, operationRow, provision, standing, supersede } from './rows.ts'
import { type SubjectClock, storeCase } from './subject.ts'

/** What is heard while `act` runs and until things have come to rest. */
async function heard(store: Store, clock: SubjectClock, act: () => Promise<unknown>): Promise<string[]> {
  const wakeUps: WakeUp[] = []
  const stop = store.onWakeUp(wakeUp => wakeUps.push(wakeUp))
  await act()
  await clock.advance(0)
  stop()
  return wakeUps.map(wakeUp => (wakeUp.type === 'finished' ? `finished ${wakeUp.operationId}` : wakeUp.type)).sort()
}

export const wakeUpCases = [
  storeCase('wake-ups: new work wakes, other writes do not', async ({ store, clock }) => {
    assert.deepEqual(await heard(store, clock, () => standing(store, 'i')), [])
    assert.deepEqual(await heard(store, clock, () => provision(store, 'i')), ['work'])
    assert.deepEqual(await heard(store, clock, () => store.accept({ instanceId: 'i' }, () => ({ answer: 0 }))), [])
    assert.deepEqual(await heard(store, clock, () => store.claim('w', 0, 1000)), [])
  }),

  storeCase('wake-ups: every end is told, with its operation', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    assert.deepEqual(await heard(store, clock, () => finish(store, lease)), ['finished i:provision'])
    assert.deepEqual(await heard(store, clock, () => finish(store, lease)), [], 'a refused write tells nothing')
    await provision(store, 'j')
    await claimOne(store)
    assert.deepEqual(await heard(store, clock, () => supersede(store, 'j', 'delete')), ['finished j:provision', 'work'])
  }),

  storeCase('wake-ups: handing back wakes', async ({ store, clock }) => {
    await provision(store, 'i')
    const running = leaseOf(await claimOne(store))
    assert.deepEqual(await heard(store, clock, () => store.handBack(running)), ['work'])
    const superseded = leaseOf(await claimOne(store))
    await supersede(store, 'i', 'delete')
    assert.deepEqual(await heard(store, clock, () => store.handBack(superseded)), ['work'])
  }),

  storeCase('wake-ups: a write that is refused tells nothing', async ({ store, clock }) => {
    await provision(store, 'i')
    const act = async () => {
      const second = { operations: [operationRow('second', 'i')] }
      await assert.rejects(store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: second })))
    }
    assert.deepEqual(await heard(store, clock, act), [])
  }),

  storeCase('wake-ups: a new version of the catalog is told, other changes of it are not', async ({ store, clock }) => {
    const { version } = await catalogIn(store)
    const changes = changesOf({ insertRevisions: [revisionRow('r')] })
    const write = () => store.changeCatalog(version, changes)
    assert.deepEqual(await heard(store, clock, write), ['catalog'])
    assert.deepEqual(await heard(store, clock, write), [], 'a version that is gone')
    const same = async () => store.changeCatalog((await catalogIn(store)).version, changes)
    assert.deepEqual(await heard(store, clock, same), [], 'the same once more')
    const registry = () => store.changeCatalog(version, changesOf({ putRegistries: [registryRow('a')] }))
    assert.deepEqual(await heard(store, clock, registry), [])
  }),

  storeCase('wake-ups: a listener that hears of an end can read it', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    const reads: Promise<unknown>[] = []
    store.onWakeUp(wakeUp => {
      if (wakeUp.type === 'finished')
        reads.push(store.operation(wakeUp.operationId).then(operation => operation?.state))
    })
    await finish(store, lease)
    await clock.advance(0)
    assert.deepEqual(await Promise.all(reads), ['succeeded'])
  }),

  storeCase('wake-ups: never in the middle of the caller’s own turn', async ({ store, clock }) => {
    let told = false
    store.onWakeUp(() => {
      told = true
    })
    const accepted = provision(store, 'i')
    assert.equal(told, false)
    await accepted
    await clock.advance(0)
    assert.equal(told, true)
  }),

  storeCase('wake-ups: a listener that throws breaks neither the write nor the others', async ({ store, clock }) => {
    let told = 0
    store.onWakeUp(() => {
      throw new Error('a broken listener')
    })
    store.onWakeUp(() => {
      told += 1
    })
    assert.equal(await provision(store, 'i'), 'i:provision')
    await clock.advance(0)
    assert.equal(told, 1)
  }),

  storeCase('wake-ups: a listener that left hears nothing more', async ({ store, clock }) => {
    let told = 0
    const stop = store.onWakeUp(() => {
      told += 1
    })
    stop()
    stop()
    await provision(store, 'i')
    await clock.advance(0)
    assert.equal(told, 0)
  }),
]
