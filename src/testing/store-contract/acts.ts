import type { ActQuery, HistoryEvent, Store } from '../../store.ts'
import { assert } from './assert.ts'
import { instanceRow, standing } from './rows.ts'
import { storeCase } from './subject.ts'

function act(instanceId: string, at: number, more: Partial<HistoryEvent> = {}): HistoryEvent {
  return { type: 'acted', at, instanceId, by: 'ops', verb: 'move', before: { revision: 'a' }, after: {}, ...more }
}

async function write(store: Store, ...history: HistoryEvent[]): Promise<void> {
  for (const event of history)
    await store.accept({ instanceId: event.instanceId }, () => ({ answer: undefined, change: { history: [event] } }))
}

async function reasons(store: Store, query: ActQuery): Promise<(string | undefined)[]> {
  return (await store.listActs(query)).items.map(({ reason }) => reason)
}

export const actCases = [
  storeCase('acts: lists what operators did, and nothing else of the history', async ({ store }) => {
    await standing(store, 'i')
    const told = act('i', 5, { reason: 'why', requestId: 'r', operationId: 'o', before: { by: 'nobody' } })
    await write(store, { type: 'accepted', at: 4, instanceId: 'i' }, told)
    const { type: _type, ...shown } = told
    assert.deepEqual(await store.listActs(), { items: [shown], next: undefined })
  }),

  storeCase('acts: about no instance, and of nobody who is known', async ({ store }) => {
    const somebody = { principal: 'bob', address: '::1', message: '"by":"eve"', before: {}, after: { refused: 2 } }
    const refused: HistoryEvent = { type: 'acted', at: 5, instanceId: '', verb: 'refuse-sign-in', ...somebody }
    await write(store, act('', 4, { by: 'bob', verb: 'sign-in' }), refused)
    const { type: _type, ...shown } = refused
    assert.deepEqual(await store.listActs({ verb: 'refuse-sign-in' }), { items: [shown], next: undefined })
    assert.deepEqual((await store.listActs({ by: 'eve' })).items, [])
    assert.equal((await store.listActs({ by: 'bob' })).items.length, 1)
  }),

  storeCase('acts: of an instance from before it was there until after it is gone', async ({ store }) => {
    await write(store, act('i', 1, { reason: 'before' }))
    await standing(store, 'i')
    await write(store, act('i', 2, { reason: 'meanwhile' }))
    const gone = instanceRow('i', { phase: 'deleted', deletedAt: 3 })
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { instance: gone } }))
    assert.equal(await store.purge(10, 10), 1)
    await standing(store, 'j')
    await write(store, act('j', 4, { reason: 'of another' }), act('i', 5, { reason: 'after' }))
    assert.deepEqual(await reasons(store, { instanceId: 'i' }), ['after', 'meanwhile', 'before'])
    assert.deepEqual(await reasons(store, { instanceId: 'i', by: 'ops', order: 'oldest' }), [
      'before',
      'meanwhile',
      'after',
    ])
    assert.deepEqual(
      (await store.history('i')).map(({ reason }) => reason),
      ['before', 'meanwhile', 'after'],
    )
    assert.deepEqual(await reasons(store, { instanceId: 'j' }), ['of another'])
  }),

  storeCase('acts: by who, what, which instance and when', async ({ store }) => {
    const name = 'Jürgen "the\u0000 \\" one'
    for (const id of ['i', 'j']) await standing(store, id)
    await write(
      store,
      act('i', 1, { reason: 'a' }),
      act('j', 2, { reason: 'b', by: name }),
      act('i', 3, { reason: 'c', verb: 'abandon' }),
      act('j', 4, { reason: 'd', by: name, verb: 'abandon' }),
    )
    assert.deepEqual(await reasons(store, {}), ['d', 'c', 'b', 'a'])
    assert.deepEqual(await reasons(store, { order: 'oldest' }), ['a', 'b', 'c', 'd'])
    assert.deepEqual(await reasons(store, { by: name }), ['d', 'b'])
    assert.deepEqual(await reasons(store, { by: 'nobody' }), [])
    assert.deepEqual(await reasons(store, { verb: 'abandon' }), ['d', 'c'])
    assert.deepEqual(await reasons(store, { instanceId: 'i' }), ['c', 'a'])
    assert.deepEqual(await reasons(store, { by: name, verb: 'abandon', instanceId: 'j' }), ['d'])
    assert.deepEqual(await reasons(store, { after: 2, before: 4 }), ['c', 'b'])
    await assert.rejects(store.listActs({ who: 'me' } as ActQuery), /cannot be asked for "who"/)
  }),

  storeCase('acts: page after page, each is told once, those of one time too', async ({ store }) => {
    await standing(store, 'i')
    const names = Array.from({ length: 12 }, (_, index) => `${index}`)
    await write(store, ...names.map((reason, index) => act('i', index < 8 ? 7 : 8, { reason })))
    for (const order of ['newest', 'oldest'] as const) {
      const seen: (string | undefined)[] = []
      let cursor: string | undefined
      do {
        const page = await store.listActs({ order, limit: 5, cursor })
        seen.push(...page.items.map(({ reason }) => reason))
        cursor = page.next
      } while (cursor !== undefined)
      assert.deepEqual(seen, order === 'oldest' ? names : names.toReversed())
    }
    const { next } = await store.listActs({ limit: 5 })
    await assert.rejects(store.listActs({ order: 'oldest', cursor: next }), /begin without a cursor/)
  }),
]
