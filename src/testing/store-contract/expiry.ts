import type { Binding, BindingQuery, Store } from '../../store.ts'
import { assert } from './assert.ts'
import { bindingRow, standing } from './rows.ts'
import { storeCase } from './subject.ts'

export const expiryCases = [
  storeCase('expiry: bindings are due from their time on, oldest first', async ({ store, clock }) => {
    const now = clock.now()
    await bound(store, {
      later: { expiresAt: now + 50, noticeAt: now + 10 },
      second: { expiresAt: now + 50, noticeAt: now },
      // Written by a release that knew of no look.
      first: { expiresAt: now - 1 },
      looked: { expiresAt: now - 5, noticeAt: now + 60_000 },
      never: {},
      gone: { expiresAt: now - 1, noticeAt: now - 1, phase: 'deleted', deletedAt: now },
    })
    const due = async (max: number) =>
      (await store.dueForExpiry(max)).map(({ instanceId, id }) => `${instanceId} ${id}`)
    assert.deepEqual(await due(5), ['i first', 'i second'])
    assert.deepEqual(await due(1), ['i first'])
    assert.deepEqual(await due(0), [])
    await clock.advance(10)
    assert.deepEqual(await due(5), ['i first', 'i second', 'i later'])
    await bound(store, { first: { expiresAt: now - 1, noticeAt: now + 60_000 }, second: {} })
    assert.deepEqual(await due(5), ['i later'])
  }),

  storeCase('expiry: bindings in the order in which they expire', async ({ store }) => {
    await bound(store, {
      c: { expiresAt: 30, createdAt: 1 },
      a: { expiresAt: 10, createdAt: 2, serviceId: 'other' },
      b: { expiresAt: 20, createdAt: 3, phase: 'failed' },
      never: { createdAt: 4 },
      gone: { expiresAt: 15, createdAt: 5, phase: 'deleted', deletedAt: 9 },
    })
    await bound(store, { d: { expiresAt: 20, createdAt: 6 } }, 'j')
    const list = async (query: BindingQuery) =>
      (await store.listBindings({ by: 'expires', order: 'oldest', ...query })).items.map(({ id }) => id)
    assert.deepEqual(await list({}), ['a', 'b', 'd', 'c'])
    assert.deepEqual(await list({ order: 'newest' }), ['c', 'd', 'b', 'a'])
    assert.deepEqual(await list({ before: 20 }), ['a'])
    assert.deepEqual(await list({ after: 20 }), ['b', 'd', 'c'])
    assert.deepEqual(await list({ after: 11, before: 30 }), ['b', 'd'])
    assert.deepEqual(await list({ serviceId: 'other' }), ['a'])
    assert.deepEqual(await list({ phase: 'failed' }), ['b'])
    assert.deepEqual(await list({ phase: 'deleted' }), [])
    assert.deepEqual(await list({ instanceId: 'i', before: 25 }), ['a', 'b'])
    assert.deepEqual(await list({ by: 'created', after: 2, before: 4 }), ['a', 'b'])
    const first = await store.listBindings({ by: 'expires', order: 'oldest', limit: 2 })
    assert.deepEqual(await list({ cursor: first.next }), ['d', 'c'])
    await assert.rejects(store.listBindings({ cursor: first.next, order: 'oldest' }), /begin without a cursor/)
  }),

  storeCase('expiry: what comes from outside expires nothing, and hides nothing', async ({ store, clock }) => {
    const now = clock.now()
    const text = 'a\u0000b\\u0000\ud800"expiresAt":1,"noticeAt":1'
    const context = { expiresAt: 1, noticeAt: 1, deep: { updatedAt: 1, expiresAt: 2, [text]: text } }
    await bound(store, {
      forged: { context, bindResource: context, appGuid: text },
      [text]: { context, bindResource: context, appGuid: text, expiresAt: now - 7, noticeAt: now - 3 },
    })
    assert.deepEqual(await store.dueForExpiry(5), [{ instanceId: 'i', id: text }])
    const { items } = await store.listBindings({ by: 'expires' })
    assert.deepEqual(
      items.map(({ id, expiresAt }) => [id, expiresAt]),
      [[text, now - 7]],
    )
  }),
]

async function bound(
  store: Store,
  bindings: Readonly<Record<string, Partial<Binding>>>,
  instanceId = 'i',
): Promise<void> {
  await standing(store, instanceId)
  const rows = Object.entries(bindings).map(([id, more]) => bindingRow(instanceId, id, { phase: 'ready', ...more }))
  for (const row of rows)
    await store.accept({ instanceId, bindingId: row.id }, () => ({ answer: 0, change: { bindings: [row] } }))
}
