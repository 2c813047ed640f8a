import { assert } from './assert.ts'
import { storeCase } from './subject.ts'

const hour = 3_600_000

export const bulletinCases = [
  storeCase('bulletins: a ledger begins without any, and tells its clock', async ({ store, clock }) => {
    assert.deepEqual(await store.bulletins('worker'), { now: clock.now(), bulletins: [] })
  }),

  storeCase(
    'bulletins: those of a kind are told by key, with the time of the last writing',
    async ({ store, clock }) => {
      const doc = { said: 'no\u0000\n“now” $x', slots: { used: 1 } }
      await store.putBulletin({ kind: 'worker', key: 'b', doc: {}, keepFor: hour })
      await store.putBulletin({ kind: 'worker', key: 'a', doc: { old: true }, keepFor: hour })
      await store.putBulletin({ kind: 'survey', key: 'a', doc: {}, keepFor: hour })
      const first = clock.now()
      await clock.advance(7)
      await store.putBulletin({ kind: 'worker', key: 'a', doc, keepFor: hour })
      assert.deepEqual((await store.bulletins('worker')).bulletins, [
        { kind: 'worker', key: 'a', at: clock.now(), doc },
        { kind: 'worker', key: 'b', at: first, doc: {} },
      ])
    },
  ),

  storeCase(
    'bulletins: what is not said again is not told for longer than it was to be kept',
    async ({ store, clock }) => {
      await store.putBulletin({ kind: 'worker', key: 'a', doc: {}, keepFor: 10 })
      await store.putBulletin({ kind: 'worker', key: 'b', doc: {}, keepFor: 30 })
      await clock.advance(10)
      assert.deepEqual(
        (await store.bulletins('worker')).bulletins.map(({ key }) => key),
        ['b'],
      )
      await store.putBulletin({ kind: 'worker', key: 'b', doc: {}, keepFor: 0 })
      assert.deepEqual((await store.bulletins('worker')).bulletins, [])
    },
  ),
]
