import type { HistoryEvent, Instance, Operation } from '../../store.ts'
import { assert } from './assert.ts'
import { change, revisionRow } from './catalog-rows.ts'
import {
  bind,
  bindingRow,
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  leaseTime,
  present,
  provision,
  standing,
  stepRow,
} from './rows.ts'
import { storeCase } from './subject.ts'

export const readCases = [
  storeCase('reads: what is not there is undefined or empty', async ({ store }) => {
    assert.deepEqual(
      [
        await store.instance('none'),
        await store.binding('none', 'none'),
        await store.bindings('none'),
        await store.claimants('none', 5),
        await store.operation('none'),
        await store.steps('none'),
        await store.history('none'),
        await store.dueForObservation(5),
      ],
      [undefined, undefined, [], [], undefined, [], [], []],
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

  storeCase('reads: a resolved write is seen by the next read', async ({ store }) => {
    for (let round = 0; round < 20; round += 1) {
      await standing(store, 'i', { updatedAt: round })
      assert.equal((await store.instance('i'))?.updatedAt, round)
    }
  }),

  storeCase('known: what is at hand is what the ledger holds, and nothing after close', async ({ store, clock }) => {
    const { known } = store
    if (known === undefined) return
    // Each look is before the reads, which may take rows to hand, and may be answered from there themselves.
    const look = async (after: string, expected: Partial<Operation> = {}) => {
      const shown = [known.instance('i'), known.binding('i', 'b'), known.operation('i:provision')]
      const held = [await store.instance('i'), await store.binding('i', 'b'), await store.operation('i:provision')]
      for (const [index, row] of shown.entries()) if (row !== undefined) assert.deepEqual(row, held[index], after)
      assert.deepEqual({ ...held[2], ...expected }, { ...held[2] }, after)
    }
    await look('nothing')
    await provision(store, 'i')
    await bind(store, 'i', 'b', { notBefore: clock.now() + 50 })
    await look('accept', { state: 'queued' })
    const lease = leaseOf(await claimOne(store))
    await look('claim', { state: 'running', fence: lease.fence })
    await store.checkpoint(lease, { description: 'half of it' })
    await look('a description', { description: 'half of it' })
    await store.checkpoint(lease, { state: { made: 'yes' } })
    assert.deepEqual((await store.instance('i'))?.state, { made: 'yes' })
    await clock.advance(5)
    await store.renew([lease], leaseTime)
    await look('renew', { leaseUntil: clock.now() + leaseTime })
    await store.park(lease, { until: clock.now() })
    await look('park', { state: 'queued', notBefore: clock.now() })
    await finish(store, leaseOf(await claimOne(store)))
    await look('finish', { state: 'succeeded' })
    await look('reads alone')
    await store.close()
    assert.deepEqual(
      [known.instance('i'), known.binding('i', 'b'), known.operation('i:provision')],
      Array(3).fill(undefined),
    )
  }),

  storeCase('backlog: what is due, since when, and what has a lease that stands', async ({ store, clock }) => {
    const backlog = async (most = 10) => present(await store.backlog(most))
    const start = clock.now()
    assert.deepEqual(await backlog(), { due: 0, running: 0, now: start })
    await provision(store, 'later', { notBefore: start + 50 })
    await provision(store, 'over', { state: 'succeeded' })
    await provision(store, 'i', { notBefore: start })
    await provision(store, 'j', { notBefore: start })
    await provision(store, 'k', { notBefore: start })
    assert.deepEqual(await backlog(), { due: 3, dueSince: start, running: 0, now: start })
    const lease = leaseOf(await claimOne(store))
    assert.deepEqual(await backlog(), { due: 2, dueSince: start, running: 1, now: start })
    await claimOne(store)
    await clock.advance(50)
    assert.deepEqual(await backlog(), { due: 2, dueSince: start, running: 2, now: start + 50 })
    assert.deepEqual(await backlog(1), { due: 1, dueSince: start, running: 1, now: start + 50 }, 'counted to the most')
    await store.park(lease, { until: start + 70 })
    await clock.advance(leaseTime)
    const { due, running } = await backlog()
    assert.deepEqual([due, running], [4, 0], 'what is parked until a time that has come, and a lease that has run out')
  }),

  storeCase('counts: the instances of each plan, but for those that are deleted', async ({ store }) => {
    assert.deepEqual(await store.instanceCounts(), [])
    await change(store, { insertRevisions: [revisionRow('r1'), revisionRow('r2')] })
    const long = 'Ü'.repeat(300)
    const rows: Partial<Instance>[] = [
      {},
      { platform: 'kubernetes' },
      { usable: false, phase: 'failed' },
      { phase: 'deleting' },
      { phase: 'creating' },
      { phase: 'deleted', deletedAt: 99 },
      { planId: 'large' },
      { revisionId: 'r1' },
      { revisionId: 'r2', nextRevisionId: 'r1', phase: 'updating' },
      { serviceId: long, planId: `#${long}` },
    ]
    for (const [index, overrides] of rows.entries()) await standing(store, `i${index}`, overrides)
    const counts = (await store.instanceCounts()).map(({ serviceId, planId, pinned, instances }) =>
      JSON.stringify([serviceId, planId, pinned, instances]),
    )
    const { serviceId, planId } = instanceRow('i')
    const expected = [
      [serviceId, planId, false, 5],
      [serviceId, 'large', false, 1],
      [serviceId, planId, true, 2],
      [long, `#${long}`, false, 1],
    ]
    assert.deepEqual(counts.sort(), expected.map(row => JSON.stringify(row)).sort())
  }),
]
