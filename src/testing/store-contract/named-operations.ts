import type { OperationQuery } from '../../store.ts'
import { assert } from './assert.ts'
import { claimOne, finish, leaseOf, provision } from './rows.ts'
import { storeCase } from './subject.ts'

export const namedOperationCases = [
  storeCase(
    'operations: by service, plan and platform, the active ones among those that have ended',
    async ({ store }) => {
      const name = 'ünï "service" \\ \u0000'
      const of = { serviceId: name, planId: 'p', platform: 'k8s', identity: { platform: 'cf', value: {} } }
      for (const [index, id] of ['a', 'b', 'c', 'd', 'e'].entries()) {
        const waits = id === 'b' || id === 'd'
        const notBefore = waits ? 9_000_000_000_000 : 0
        await provision(store, id, { acceptedAt: index, notBefore, ...(id !== 'c' && of) })
        if (waits) continue
        await finish(store, leaseOf(await claimOne(store)))
      }
      const wanted = ['e', 'd', 'b', 'a'].map(id => `${id}:provision`)
      for (const query of [
        { serviceId: name },
        { planId: 'p' },
        { platform: 'k8s' },
        { serviceId: name, planId: 'p' },
      ]) {
        assert.deepEqual(await pageThrough(query), wanted)
        assert.deepEqual(await pageThrough({ ...query, order: 'oldest' }), wanted.toReversed())
        assert.deepEqual(await pageThrough({ ...query, state: 'queued' }), ['d:provision', 'b:provision'])
        assert.deepEqual(await pageThrough({ ...query, state: 'succeeded' }), ['e:provision', 'a:provision'])
        assert.deepEqual(await pageThrough({ ...query, after: 1, before: 4 }), ['d:provision', 'b:provision'])
      }
      assert.deepEqual(await pageThrough({ platform: 'cf' }), [])
      assert.deepEqual(await pageThrough({ serviceId: 'service' }), ['c:provision'])

      async function pageThrough(query: OperationQuery): Promise<string[]> {
        const seen: string[] = []
        let cursor: string | undefined
        do {
          const page = await store.listOperations({ ...query, limit: 3, cursor })
          seen.push(...page.items.map(({ id }) => id))
          cursor = page.next
        } while (cursor !== undefined)
        return seen
      }
    },
  ),

  storeCase('operations: by the step and the kind of their failure', async ({ store }) => {
    for (const [id, step, fingerprint] of [
      ['a', 'create "it"\u0000', 'aa'],
      ['b', undefined, 'bb'],
      ['c', 'create "it"\u0000', 'cc'],
    ] as const) {
      await provision(store, id, { acceptedAt: 1, identity: { step: 'other', fingerprint: 'ff' } })
      const error = { message: 'no \\" \u0000 quota', step, fingerprint }
      await store.finish(leaseOf(await claimOne(store)), ({ finishing, now }) => ({
        operations: [{ ...finishing, state: 'failed', finishedAt: now, error }],
      }))
    }
    await provision(store, 'd')
    const idsOf = async (query: OperationQuery) => (await store.listOperations(query)).items.map(({ id }) => id).sort()
    assert.deepEqual(await idsOf({ step: 'create "it"\u0000' }), ['a:provision', 'c:provision'])
    assert.deepEqual(await idsOf({ fingerprint: 'bb' }), ['b:provision'])
    assert.deepEqual(await idsOf({ step: 'create "it"\u0000', fingerprint: 'cc', state: 'failed' }), ['c:provision'])
    assert.deepEqual(await idsOf({ step: 'create "it"\u0000', state: 'succeeded' }), [])
    assert.deepEqual(await idsOf({ step: 'other' }), [])
  }),
]
