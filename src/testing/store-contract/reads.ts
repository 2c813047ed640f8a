import assert from 'node:assert/strict'
import type { HistoryEvent } from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { changesOf } from './catalog-rows.ts'
import { bindingRow, claimOne, finish, leaseMs, leaseOf, provision, standing, stepRow } from './rows.ts'
import { storeCase } from './subject.ts'

export const readCases = [
  storeCase('reads: what is not there is undefined or empty', async ({ store }) => {
    assert.deepEqual(
      [
        await store.instance('none'),
        await store.binding('none', 'none'),
        await store.bindings('none'),
        await store.operation('none'),
        await store.steps('none'),
        await store.history('none'),
        await store.dueForObservation(5),
      ],
      [undefined, undefined, [], undefined, [], [], []],
    )
  }),

  storeCase('reads: bindings are those of the instance that are not deleted, oldest first', async ({ store }) => {
    for (const instanceId of ['i', 'j']) {
      await standing(store, instanceId)
      const rows = (['ready', 'deleted', 'failed', 'creating', 'deleting'] as const).map((phase, index) =>
        bindingRow(instanceId, `${9 - index}`, { phase }),
      )
      await store.accept({ instanceId }, () => ({ answer: 0, change: { bindings: rows } }))
    }
    const phases = (await store.bindings('i')).map(({ instanceId, phase }) => `${instanceId} ${phase}`)
    assert.deepEqual(phases, ['i ready', 'i failed', 'i creating', 'i deleting'])
    assert.equal((await store.binding('i', '8'))?.phase, 'deleted', 'a tombstone is found by its id')
  }),

  storeCase('reads: the history of one instance, oldest first, as it was written', async ({ store }) => {
    const events: HistoryEvent[] = [
      { at: 9, type: 'accepted', instanceId: 'i', operationId: 'o', action: 'provision', platform: 'cf' },
      {
        at: 3,
        type: 'failed',
        instanceId: 'i',
        bindingId: 'b',
        message: 'no',
        requestId: 'r',
        identity: { user: 'u' },
      },
      { at: 3, type: 'forced', instanceId: 'i' },
    ]
    const [first, ...rest] = events
    assert.ok(first)
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { history: [first] } }))
    await store.accept({ instanceId: 'j' }, () => ({
      answer: 0,
      change: { history: [{ at: 1, type: 'accepted', instanceId: 'j' }] },
    }))
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { history: rest } }))
    assert.deepEqual(await store.history('i'), events)
  }),

  storeCase('reads: the steps of an operation, in the order of their first attempts', async ({ store, clock }) => {
    await provision(store, 'i')
    await provision(store, 'j')
    assert.deepEqual(await store.steps('i:provision'), [])
    const lease = leaseOf(await claimOne(store))
    const failed = stepRow('z', { state: 'failed', error: 'not yet' })
    await store.checkpoint(lease, { step: failed })
    await store.checkpoint(lease, { step: stepRow('a', { output: { secret: 's' } }) })
    assert.deepEqual(await store.steps('i:provision'), [failed, stepRow('a', { output: { secret: 's' } })])
    await store.park(lease, { until: clock.now(), step: { ...failed, attempts: 2 } })
    const again = leaseOf(await claimOne(store))
    const other = again.operationId === 'i:provision' ? undefined : again
    const held = other === undefined ? again : leaseOf(await claimOne(store))
    await store.checkpoint(held, { step: stepRow('z', { attempts: 3 }) })
    await store.checkpoint(held, { step: stepRow('b') })
    const names = async () => (await store.steps('i:provision')).map(({ name, attempts }) => `${name} ${attempts}`)
    assert.deepEqual(await names(), ['z 3', 'a 1', 'b 1'])
    await finish(store, held)
    assert.deepEqual(await names(), ['z 3', 'a 1', 'b 1'], 'they stay with their operation')
    assert.deepEqual(await store.steps('j:provision'), [])
  }),

  storeCase('reads: instances are due for observation from their time on, oldest first', async ({ store, clock }) => {
    const now = clock.now()
    await standing(store, 'later', { observeAt: now + 10 })
    await standing(store, 'second', { observeAt: now })
    await standing(store, 'first', { observeAt: now - 1 })
    await standing(store, 'never')
    assert.deepEqual(await store.dueForObservation(5), ['first', 'second'])
    assert.deepEqual(await store.dueForObservation(1), ['first'])
    assert.deepEqual(await store.dueForObservation(0), [])
    await clock.advance(10)
    assert.deepEqual(await store.dueForObservation(5), ['first', 'second', 'later'])
    await standing(store, 'first', { observeAt: now + 60_000 })
    await standing(store, 'second')
    assert.deepEqual(await store.dueForObservation(5), ['later'])
  }),

  storeCase('reads: an active operation does not hide an instance from observation', async ({ store, clock }) => {
    await standing(store, 'i', { observeAt: clock.now() })
    await provision(store, 'other')
    await store.checkpoint(leaseOf(await claimOne(store)), { state: {} })
    assert.deepEqual(await store.dueForObservation(5), ['i'])
  }),

  storeCase('reads: a resolved write is seen by the next read', async ({ store }) => {
    for (let round = 0; round < 20; round += 1) {
      await standing(store, 'i', { updatedAt: round })
      assert.equal((await store.instance('i'))?.updatedAt, round)
    }
  }),

  storeCase('close: everything is refused afterwards, as unavailable', async ({ store }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await store.ping()
    await store.close()
    await store.close()
    const refused = (promise: Promise<unknown>) => assert.rejects(promise, StoreUnavailableError)
    await refused(store.accept({ instanceId: 'i' }, () => ({ answer: 0 })))
    await refused(store.claim('w', 1, leaseMs))
    await refused(store.renew([lease], leaseMs))
    await refused(store.checkpoint(lease, {}))
    await refused(store.park(lease, { until: 1 }))
    await refused(store.finish(lease, () => ({})))
    await refused(store.handBack(lease))
    await refused(store.share(lease, 'key', 'acquire'))
    await refused(store.instance('i'))
    await refused(store.binding('i', 'b'))
    await refused(store.bindings('i'))
    await refused(store.operation('o'))
    await refused(store.dueForObservation(1))
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
