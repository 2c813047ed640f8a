/** What operators do by hand: the decisions of `domain`, made under each store's own lock. */

import { type AbandonIntent, decideAbandon, decideAbandonBinding } from '../../domain/decide-abandon.ts'
import { decideMove } from '../../domain/decide-move.ts'
import type { Operation, Store } from '../../store.ts'
import { RevisionGoneError } from '../../store.ts'
import { assert } from './assert.ts'
import { change, idsIn, revisionRow, serviceRow } from './catalog-rows.ts'
import { bind, claimOne, finish, leaseOf, leaseTime, operationRow, provision, standing, stepRow, view } from './rows.ts'
import { storeCase } from './subject.ts'

const acting = { by: 'ops', reason: 'nobody can delete it', requestId: 'r1' }

function abandoning(instanceId: string, overrides: Partial<AbandonIntent> = {}): AbandonIntent {
  return {
    ...acting,
    instanceId,
    operationId: `${instanceId}:abandon`,
    bindings: false,
    sweepDelay: 1_000,
    ...overrides,
  }
}

function abandon(store: Store, instanceId: string) {
  return store.accept({ instanceId }, snapshot => decideAbandon(snapshot, abandoning(instanceId)))
}

function move(store: Store, instanceId: string, revisionId: string) {
  return store.accept({ instanceId }, snapshot => decideMove(snapshot, { ...acting, to: revisionRow(revisionId) }))
}

/** A running operation of the action, on an instance that stands. */
async function running(store: Store, action: Operation['action']) {
  await standing(store, 'i', { phase: action === 'deprovision' ? 'deleting' : 'ready', state: { key: 'value' } })
  await store.accept({ instanceId: 'i' }, () => ({
    answer: undefined,
    change: { operations: [operationRow('o', 'i', { action })] },
  }))
  return leaseOf(await claimOne(store))
}

export const verbCases = [
  ...(['provision', 'update', 'deprovision', 'observe', 'sweep'] as const).map(action =>
    storeCase(`verbs: what runs a ${action} of an abandoned instance writes nothing more`, async ({ store, clock }) => {
      const lease = await running(store, action)
      const abandoned = await abandon(store, 'i')
      const isDeletion = action === 'deprovision'
      assert.equal(abandoned?.ended?.state, isDeletion ? 'succeeded' : 'superseded')
      const last = isDeletion ? 'o' : 'i:abandon'
      const seen = await view(store, 'i', 'o', last)
      const { instance } = seen as { instance: { lastOperationId: string; phase: string; uncleanUntil: number } }
      assert.deepEqual([instance.phase, instance.lastOperationId], ['deleted', last])
      assert.ok(instance.uncleanUntil >= clock.now() + 1_000, 'a call of its holder may still land')
      assert.equal((await store.operation(last))?.state, 'succeeded')

      assert.deepEqual(await store.renew([lease], leaseTime), [])
      assert.equal(await store.checkpoint(lease, { step: stepRow('late'), state: { late: true } }), false)
      assert.equal(await store.park(lease, { until: 0 }), false)
      assert.equal(await finish(store, lease), false)
      assert.deepEqual(await view(store, 'i', 'o', last), seen)
      assert.deepEqual(await store.steps('o'), [])
      await store.handBack(lease)
      await clock.advance(leaseTime * 2)
      assert.deepEqual((await store.claim('worker', 10, leaseTime)).claims, [])
    }),
  ),

  storeCase('verbs: a binding is abandoned without its instance, and a bind that runs ends', async ({ store }) => {
    await standing(store, 'i')
    await bind(store, 'i', 'b')
    const lease = leaseOf(await claimOne(store))
    const decide = (operationId: string) =>
      store.accept({ instanceId: 'i', bindingId: 'b' }, snapshot =>
        decideAbandonBinding(snapshot, abandoning('i', { operationId })),
      )
    assert.equal((await decide('gone'))?.ended?.state, 'superseded')
    assert.equal((await store.binding('i', 'b'))?.phase, 'deleted')
    assert.equal((await store.operation('gone'))?.state, 'succeeded')
    assert.equal(await finish(store, lease), false)
    assert.equal(await decide('again'), undefined)
    assert.equal((await store.instance('i'))?.phase, 'ready')
    const [superseded, acted] = await store.history('i')
    assert.deepEqual([superseded?.type, superseded?.bindingId], ['superseded', 'b'])
    assert.deepEqual([acted?.type, acted?.verb, acted?.by, acted?.reason], ['acted', 'abandon', 'ops', acting.reason])
  }),

  storeCase('verbs: what is abandoned needs its revision no more', async ({ store }) => {
    await change(store, { insertRevisions: [revisionRow('r')], putServices: [serviceRow('service', 'r', 1)] })
    await standing(store, 'i', { revisionId: 'r' })
    await abandon(store, 'i')
    assert.deepEqual(await store.revisionUses(), [])
    await change(store, { deleteServices: ['service'], deleteRevisions: ['r'] })
    assert.deepEqual(await idsIn(store), [[], []])
  }),

  storeCase('verbs: a move pins to the other revision, and tells who did it', async ({ store }) => {
    await change(store, {
      insertRevisions: [revisionRow('r'), revisionRow('s')],
      putServices: [serviceRow('service', 's')],
    })
    await standing(store, 'i', { revisionId: 'r' })
    assert.equal((await move(store, 'i', 's')).from, 'r')
    assert.deepEqual(await store.revisionUses(), [{ revisionId: 's', planId: 'plan', instances: 1 }])
    const [{ at: _at, ...event } = { at: 0 }] = await store.history('i')
    assert.deepEqual(event, {
      type: 'acted',
      verb: 'move',
      ...acting,
      instanceId: 'i',
      before: { revision: 'r' },
      after: { revision: 's' },
    })
    await change(store, { deleteRevisions: ['r', 's'] })
    assert.deepEqual(await idsIn(store), [['service'], ['s']])
  }),

  storeCase('verbs: a move to what is gone, or beside an operation, writes nothing', async ({ store }) => {
    await change(store, { insertRevisions: [revisionRow('r'), revisionRow('s')] })
    await standing(store, 'i', { revisionId: 'r' })
    const before = await view(store, 'i')
    await assert.rejects(move(store, 'i', 'gone'), RevisionGoneError)
    assert.deepEqual(await view(store, 'i'), before)
    await bind(store, 'i', 'b')
    await assert.rejects(move(store, 'i', 's'), { code: 'ConcurrencyError' })
    await provision(store, 'j')
    await assert.rejects(move(store, 'j', 's'), { code: 'VerbRefused' })
    assert.equal((await store.instance('i'))?.revisionId, 'r')
  }),

  storeCase('concurrency: of twenty that abandon one instance one does', async ({ store }) => {
    await running(store, 'update')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        store.accept({ instanceId: 'i' }, snapshot =>
          decideAbandon(snapshot, abandoning('i', { operationId: `abandon ${index}` })),
        ),
      ),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal((await store.history('i')).filter(({ type }) => type === 'acted').length, 1)
  }),
]
