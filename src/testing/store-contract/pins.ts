import type { Instance, RevisionUse, Store } from '../../store.ts'
import { RevisionGoneError } from '../../store.ts'
import { assert } from './assert.ts'
import { catalogIn, change, changesOf, idsIn, pin, revisionRow, serviceRow } from './catalog-rows.ts'
import { claimOne, instanceRow, leaseOf, provision, standing, view } from './rows.ts'
import { storeCase } from './subject.ts'

const everythingOf = { deleteServices: ['service'], deleteRevisions: ['r', 's'] }

/** A retired service with two revisions, the second of which is current. */
async function retired(store: Store): Promise<void> {
  const revisions = [revisionRow('r'), revisionRow('s')]
  await change(store, { insertRevisions: revisions, putServices: [serviceRow('service', 's', 1)] })
}

function times<Result>(count: number, make: (index: number) => Result): Result[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

export const pinCases = [
  storeCase('pins: uses are counted by revision and plan, whatever the phase', async ({ store }) => {
    await change(store, { insertRevisions: ['r', 's', 't'].map(id => revisionRow(id)) })
    const rows: Partial<Instance>[] = [
      { revisionId: 'r' },
      { revisionId: 'r', phase: 'failed' },
      { revisionId: 'r', planId: 'large' },
      { revisionId: 'r', nextRevisionId: 's', phase: 'updating' },
      { revisionId: 's', nextRevisionId: 's', phase: 'updating' },
      { nextRevisionId: 't' },
      { revisionId: 't', phase: 'deleted', deletedAt: 1 },
      { phase: 'deleted', deletedAt: 1 },
      {},
    ]
    for (const [index, row] of rows.entries()) await standing(store, `i${index}`, row)
    const uses: RevisionUse[] = [
      { revisionId: 'r', planId: 'large', instances: 1 },
      { revisionId: 'r', planId: 'plan', instances: 3 },
      { revisionId: 's', planId: 'plan', instances: 2 },
      { revisionId: 't', planId: 'plan', instances: 2 },
    ]
    assert.deepEqual(await store.revisionUses(), uses)
    for (const index of rows.keys()) await standing(store, `i${index}`, { planId: 'other' })
    assert.deepEqual(await store.revisionUses(), [])
  }),

  storeCase('pins: a revision that is not stored cannot be pinned to, and nothing is written', async ({ store }) => {
    await change(store, { insertRevisions: [revisionRow('r')] })
    for (const pins of [{ revisionId: 'never' }, { nextRevisionId: 'never' }, { revisionId: 'r', nextRevisionId: 'x' }])
      await assert.rejects(pin(store, 'i', pins), RevisionGoneError)
    assert.deepEqual(await view(store, 'i', 'i:provision'), await view(store, 'nobody', 'nothing'))
    await standing(store, 'i', { revisionId: 'r' })
    const before = await view(store, 'i')
    const update = { instance: instanceRow('i', { nextRevisionId: 'never' }) }
    const history = [{ at: 1, type: 'accepted', instanceId: 'i' }] as const
    const accepted = store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { ...update, history } }))
    await assert.rejects(accepted, RevisionGoneError)
    assert.deepEqual(await view(store, 'i'), before)
    assert.deepEqual(await store.revisionUses(), [{ revisionId: 'r', planId: 'plan', instances: 1 }])
  }),

  storeCase('pins: an end that pins to what is gone is refused, and can be decided again', async ({ store }) => {
    await change(store, { insertRevisions: [revisionRow('r')] })
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    const end = (revisionId: string) =>
      store.finish(lease, ({ finishing, now }) => ({
        instance: instanceRow('i', { phase: 'ready', revisionId }),
        operations: [{ ...finishing, state: 'succeeded', finishedAt: now }],
      }))
    await assert.rejects(end('gone'), RevisionGoneError)
    assert.equal((await store.operation('i:provision'))?.state, 'running')
    assert.equal((await store.instance('i'))?.revisionId, undefined)
    assert.equal(await end('r'), true)
    assert.equal((await store.instance('i'))?.revisionId, 'r')
  }),

  storeCase('pins: one that is refused takes no other with it', async ({ store }) => {
    await change(store, { insertRevisions: [revisionRow('r')] })
    const pins = times(20, index => pin(store, `i${index}`, { revisionId: index % 7 === 3 ? 'gone' : 'r' }))
    const outcomes = await Promise.allSettled(pins)
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      times(20, index => (index % 7 === 3 ? 'rejected' : 'fulfilled')),
    )
    assert.deepEqual(await store.revisionUses(), [{ revisionId: 'r', planId: 'plan', instances: 17 }])
  }),

  storeCase('pins: what an instance needs stays, its service too, until it needs it no more', async ({ store }) => {
    await retired(store)
    const needs: [Partial<Instance>, string[]][] = [
      [{ revisionId: 'r' }, ['r', 's']],
      [{ revisionId: 's', nextRevisionId: 'r' }, ['r', 's']],
      [{ revisionId: 's', nextRevisionId: 's' }, ['s']],
      [{ nextRevisionId: 's', phase: 'deleted', deletedAt: 1 }, ['s']],
    ]
    for (const [pins, left] of needs) {
      await standing(store, 'i', pins)
      await change(store, everythingOf)
      assert.deepEqual(await idsIn(store), [['service'], left])
    }
    await standing(store, 'i')
    await change(store, everythingOf)
    assert.deepEqual(await idsIn(store), [[], []])
  }),

  storeCase('pins: a purge takes them along', async ({ store, clock }) => {
    await retired(store)
    const deletedAt = clock.now()
    await standing(store, 'i', { revisionId: 'r', phase: 'deleted', deletedAt })
    await change(store, everythingOf)
    assert.deepEqual(await idsIn(store), [['service'], ['r', 's']])
    assert.equal(await store.purge(deletedAt, 10), 1)
    assert.deepEqual(await store.revisionUses(), [])
    await change(store, everythingOf)
    assert.deepEqual(await idsIn(store), [[], []])
  }),

  storeCase('concurrency: of twenty changes of one version one is written', async ({ store }) => {
    for (let round = 0; round < 5; round += 1) {
      const { version, revisions } = await catalogIn(store)
      const written = await Promise.all(
        times(20, index =>
          store.changeCatalog(version, changesOf({ insertRevisions: [revisionRow(`${round}.${index}`)] }), { index }),
        ),
      )
      const winners = [...written.keys()].filter(index => written[index])
      assert.equal(winners.length, 1)
      const after = await catalogIn(store)
      assert.deepEqual(
        after.revisions.map(({ id }) => id).slice(revisions.length),
        winners.map(index => `${round}.${index}`),
      )
      assert.deepEqual((await store.registries()).lastChange?.report, { index: winners[0] })
    }
  }),

  storeCase('concurrency: an instance is pinned or its revision deleted, never both', async ({ store }) => {
    for (let round = 0; round < 10; round += 1) {
      const [old, current, service] = [`old${round}`, `current${round}`, `service${round}`]
      const revisions = [revisionRow(old, service), revisionRow(current, service)]
      await change(store, { insertRevisions: revisions, putServices: [serviceRow(service, current, 1)] })
      const { version } = await catalogIn(store)
      const sweep = () =>
        store.changeCatalog(version, changesOf({ deleteServices: [service], deleteRevisions: [current, old] }))
      const pins = times(8, index => () => pin(store, `${round}.${index}`, { revisionId: old }))
      const moves: (() => Promise<unknown>)[] = [...pins.slice(0, round % 5), sweep, ...pins.slice(round % 5)]
      const outcomes = await Promise.allSettled(moves.map(move => move()))
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof RevisionGoneError, outcome.reason)

      const rows = await Promise.all(times(8, index => store.instance(`${round}.${index}`)))
      const pinned = rows.filter(row => row?.revisionId === old).length
      const accepted = outcomes.filter(outcome => outcome.status === 'fulfilled' && outcome.value !== true).length
      const [services, left] = await idsIn(store)
      assert.equal(pinned, accepted)
      if (pinned === 0) continue
      assert.ok(left.includes(old), 'an instance is pinned to a revision that is gone')
      assert.ok(services.includes(service), 'an instance is pinned to a revision whose service is gone')
      assert.ok(left.includes(current), 'the service stayed and its current revision is gone')
    }
  }),
]
