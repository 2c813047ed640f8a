import { beginning, type ChainEnds, type Link, nextLink } from '../../domain/chain.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { type Chain, type HistoryEvent, NoteConflictError, type NoteWrite, type Store } from '../../store.ts'
import { assert } from './assert.ts'
import { instanceRow, operationRow } from './rows.ts'
import { type Bench, durableStoreCase, storeCase } from './subject.ts'

function line(instanceId: string, message: string, more: Partial<HistoryEvent> = {}): HistoryEvent {
  return { at: 1, type: 'healed', instanceId, message, ...more }
}

async function write(store: Store, ...events: readonly HistoryEvent[]): Promise<void> {
  for (const event of events)
    await store.accept({ instanceId: event.instanceId }, () => ({ answer: undefined, change: { history: [event] } }))
}

function noteOf(version: number, ends: JsonObject = {}): NoteWrite {
  return { kind: 'chain', id: 'ends', version, doc: ends }
}

/** Links what is not linked yet, after a link. Answers the last one. */
async function linkAll(chain: Chain, head: Link, version: number): Promise<Link> {
  const lines = (await chain.unlinked(100)).map(({ key, event }) => {
    head = nextLink(head, event)
    return { key, ...head }
  })
  await chain.link(lines, noteOf(version, { head: { ...head } }))
  return head
}

async function messages(chain: Chain, after = 0, max = 100): Promise<readonly (string | undefined)[]> {
  return (await chain.linked(after, max)).map(({ event }) => event?.message)
}

const conflicts = (writing: Promise<void>) => assert.rejects(writing, NoteConflictError)

/** A store of somebody's own may keep none. */
function chainCase(name: string, body: (chain: Chain, bench: Bench) => Promise<void>) {
  return storeCase(name, async bench => {
    if (bench.store.chain !== undefined) await body(bench.store.chain, bench)
  })
}

const between = (anchor: number, head: number): ChainEnds => ({
  anchor: { ...beginning, no: anchor },
  head: { ...beginning, no: head },
})

export const chainCases = [
  chainCase('chain: lines are in it once they are linked, in the order of their numbers', async (chain, { store }) => {
    const events = [
      line('i', 'one', { identity: { user: 'a\u0000“b”' }, address: '::1', principal: 'cf' }),
      line('j\u0000“ü”', 'two', { before: { b: 1, a: [null, 0.5] } }),
      line('i', 'three'),
    ]
    await write(store, ...events)
    assert.deepEqual([await chain.linked(0, 10), await chain.countUnlinked()], [[], 3])
    const lines = await chain.unlinked(2)
    assert.deepEqual(
      lines.map(({ event }) => event),
      events.slice(0, 2),
    )
    const [one, two] = lines
    assert.ok(one && two)
    await chain.link([{ key: two.key, no: 7, hash: 'b' }], noteOf(0))
    await chain.link([{ key: one.key, no: 6, hash: 'a' }], noteOf(1, { n: 1 }))
    assert.deepEqual(await chain.linked(0, 10), [
      { no: 6, hash: 'a', event: events[0] },
      { no: 7, hash: 'b', event: events[1] },
    ])
    assert.deepEqual(await messages(chain, 6), ['two'])
    assert.deepEqual(await messages(chain, 0, 1), ['one'])
    assert.deepEqual([await chain.countUnlinked(), (await chain.unlinked(10)).length], [1, 1])
    assert.deepEqual(await store.note('chain', 'ends'), noteOf(2, { n: 1 }))
    assert.deepEqual(await store.history('i'), [events[0], events[2]])
  }),

  chainCase('chain: those of one instance come in the order in which they were written', async (chain, { store }) => {
    const events = Array.from({ length: 20 }, (_, index) => line('i', String(index)))
    const two = (index: number) => ({ answer: 0, change: { history: events.slice(index, index + 2) } })
    for (let index = 0; index < 20; index += 2) await store.accept({ instanceId: 'i' }, () => two(index))
    assert.deepEqual(
      (await chain.unlinked(100)).map(({ event }) => event.message),
      events.map(({ message }) => message),
    )
  }),

  chainCase(
    'chain: of two who link the same lines one succeeds, and the other changes nothing',
    async (chain, { store }) => {
      await write(store, line('i', 'one'), line('i', 'two'))
      const both = await Promise.allSettled([linkAll(chain, beginning, 0), linkAll(chain, beginning, 0)])
      assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
      assert.deepEqual(await messages(chain), ['one', 'two'])
      assert.equal((await store.note('chain', 'ends'))?.version, 1)
    },
  ),

  chainCase(
    'chain: a note of another version, or a line that is linked or gone, and nothing is written',
    async (chain, { store }) => {
      await write(store, line('i', 'one'), line('i', 'two'))
      const [one, two] = await chain.unlinked(10)
      assert.ok(one && two)
      await conflicts(chain.link([{ key: one.key, no: 1, hash: 'a' }], noteOf(1)))
      assert.deepEqual([await messages(chain), await store.note('chain', 'ends')], [[], undefined])
      await chain.link([{ key: one.key, no: 1, hash: 'a' }], noteOf(0))
      const again = [two, one].map(({ key }, index) => ({ key, no: 2 + index, hash: 'b' }))
      await conflicts(chain.link(again, noteOf(1)))
      await chain.drop(1, noteOf(1))
      await conflicts(chain.link(again, noteOf(2)))
      assert.deepEqual([await messages(chain), await chain.countUnlinked()], [[], 1])
      await conflicts(chain.drop(9, noteOf(1)))
      assert.deepEqual(await store.note('chain', 'ends'), noteOf(2))
    },
  ),

  chainCase('chain: old lines go up to a number, and those that are not linked stay', async (chain, { store }) => {
    await write(store, line('i', 'one'), line('j', 'two'), line('i', 'three'))
    await linkAll(chain, beginning, 0)
    await write(store, line('i', 'four'))
    await chain.drop(2, noteOf(1, { dropped: 2 }))
    assert.deepEqual(await messages(chain), ['three'])
    assert.deepEqual(
      (await store.history('i')).map(({ message }) => message),
      ['three', 'four'],
    )
    assert.deepEqual(await store.history('j'), [])
    assert.deepEqual(await store.note('chain', 'ends'), noteOf(2, { dropped: 2 }))
  }),

  chainCase('chain: numbers that no line can have are counted', async (chain, { store }) => {
    await write(store, ...['one', 'two', 'three', 'four'].map(message => line('i', message)))
    const lines = await chain.unlinked(3)
    const links = lines.map(({ key }, index) => ({ key, no: [-4, 3, 9][index] ?? 0, hash: 'a' }))
    await chain.link(links, noteOf(0))
    const counts = [between(2, 3), between(-9, 9), between(3, 8), between(3, 9)]
    assert.deepEqual(await Promise.all(counts.map(ends => chain.countStray(ends))), [2, 0, 3, 2])
  }),

  chainCase('chain: a purge takes no line out of it', async (chain, { store }) => {
    await store.accept({ instanceId: 'i' }, () => ({
      answer: 0,
      change: {
        instance: instanceRow('i', { phase: 'deleted', deletedAt: 10, lastOperationId: 'o' }),
        operations: [operationRow('o', 'i', { state: 'succeeded', finishedAt: 5 })],
        history: [line('i', 'one')],
      },
    }))
    await linkAll(chain, beginning, 0)
    await write(store, line('i', 'two'))
    assert.equal(await store.purge(Number.MAX_SAFE_INTEGER, 10), 1)
    await linkAll(chain, beginning, 1)
    assert.deepEqual(await messages(chain), ['one', 'two'])
  }),

  durableStoreCase('chain: links survive', async ({ store, reopen }) => {
    if (store.chain === undefined) return
    await write(store, line('i', 'one'), line('i', 'two'))
    const head = await linkAll(store.chain, beginning, 0)
    const { chain } = await reopen()
    assert.deepEqual(
      (await chain?.linked(1, 10))?.map(({ no, hash }) => ({ no, hash })),
      [head],
    )
    assert.equal(await chain?.countUnlinked(), 0)
  }),
]
