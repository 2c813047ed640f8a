import { NoteConflictError, type NoteWrite, type Store } from '../../store.ts'
import { assert } from './assert.ts'
import { operationRow, standing } from './rows.ts'
import { durableStoreCase, storeCase } from './subject.ts'

const first = { kind: 'gate', id: 'bind', version: 0, doc: { message: 'no\u0000\n“now”' } }

function conflicts(writing: Promise<unknown>): Promise<void> {
  return assert.rejects(writing, NoteConflictError)
}

async function ids(store: Store, kind: string, more = {}): Promise<string[]> {
  return (await store.notes(kind, { limit: 100, ...more })).map(({ id }) => id)
}

export const noteCases = [
  storeCase('notes: written, changed and removed, each from the version that was read', async ({ store }) => {
    assert.equal(await store.note('gate', 'bind'), undefined)
    await conflicts(store.writeNotes([{ ...first, version: 1 }]))
    await store.writeNotes([first])
    assert.deepEqual(await store.note('gate', 'bind'), { ...first, version: 1 })
    await conflicts(store.writeNotes([first]))
    await store.writeNotes([{ ...first, version: 1, doc: { a: 1 }, expiresAt: 5 }])
    assert.deepEqual(await store.note('gate', 'bind'), { ...first, version: 2, doc: { a: 1 }, expiresAt: 5 })
    await conflicts(store.writeNotes([{ ...first, version: 1, doc: undefined }]))
    await store.writeNotes([{ ...first, version: 2, doc: undefined }])
    assert.equal(await store.note('gate', 'bind'), undefined)
  }),

  storeCase('notes: all are written, or none', async ({ store }) => {
    await store.writeNotes([first])
    await conflicts(store.writeNotes([{ ...first, id: 'a' }, first, { ...first, id: 'z' }]))
    assert.deepEqual(await ids(store, 'gate'), ['bind'])
  }),

  storeCase('notes: listed by kind and id, page by page', async ({ store }) => {
    const rows = ['b/2', 'a', 'b/10', 'B', 'b', 'b/1'].map(id => ({ ...first, id }))
    await store.writeNotes([...rows, { ...first, kind: 'gates', id: 'b/3' }])
    assert.deepEqual(await ids(store, 'gate'), ['B', 'a', 'b', 'b/1', 'b/10', 'b/2'])
    assert.deepEqual(await ids(store, 'gate', { prefix: 'b/' }), ['b/1', 'b/10', 'b/2'])
    assert.deepEqual(await ids(store, 'gate', { prefix: 'b/', after: 'b/1', limit: 1 }), ['b/10'])
    assert.deepEqual(await ids(store, 'gate', { after: 'b/2' }), [])
  }),

  storeCase('notes: forgotten when their time has come, a few at a time', async ({ store, clock }) => {
    const expiresAt = clock.now() + 10
    const rows = ['a', 'b', 'c'].map(id => ({ ...first, id, expiresAt }))
    await store.writeNotes([...rows, first])
    assert.equal(await store.forgetNotes(10), 0)
    await clock.advance(10)
    assert.equal(await store.forgetNotes(2), 2)
    assert.equal(await store.forgetNotes(10), 1)
    assert.deepEqual(await ids(store, 'gate'), ['bind'])
  }),

  storeCase('notes: written with a change or not at all', async ({ store }) => {
    await standing(store, 'i', { lastOperationId: 'o' })
    const note = { kind: 'request', id: 'k', version: 0, doc: { status: 202 } }
    const accept = (id: string) =>
      store.accept({ instanceId: 'i' }, ({ operation }) => ({
        answer: id,
        change: {
          operations: [
            ...(operation === undefined ? [] : [{ ...operation, state: 'superseded', finishedAt: 1 } as const]),
            operationRow(id, 'i', { action: 'update' }),
          ],
          copySteps: { from: 'o', to: id },
          notes: [note],
        },
      }))
    await accept('one')
    assert.deepEqual(await store.note('request', 'k'), { ...note, version: 1 })
    await conflicts(accept('two'))
    assert.equal(await store.operation('two'), undefined)
    assert.equal((await store.operation('one'))?.state, 'queued')
    await conflicts(store.accept({ instanceId: 'i' }, () => ({ answer: 1, change: { notes: [note] } })))
    await store.accept({ instanceId: 'nobody' }, () => ({ answer: 1, change: { notes: [{ ...note, id: 'l' }] } }))
    assert.deepEqual(await ids(store, 'request'), ['k', 'l'])
  }),

  storeCase('notes: changed and removed with a line of the history, both or none', async ({ store }) => {
    const change = (note: NoteWrite, message: string) =>
      store.accept({ instanceId: '' }, ({ now: at }) => ({
        answer: message,
        change: { notes: [note], history: [{ at, type: 'healed', instanceId: '', message }] },
      }))
    const messages = async () => (await store.history('')).map(({ message }) => message)
    await change(first, 'made')
    await conflicts(change(first, 'made again'))
    await change({ ...first, version: 1, doc: { a: 1 } }, 'changed')
    await conflicts(change({ ...first, version: 1, doc: undefined }, 'removed too late'))
    assert.deepEqual(await store.note('gate', 'bind'), { ...first, version: 2, doc: { a: 1 } })
    await change({ ...first, version: 2, doc: undefined }, 'removed')
    assert.equal(await store.note('gate', 'bind'), undefined)
    assert.deepEqual(await messages(), ['made', 'changed', 'removed'])
    const writing = Array.from({ length: 8 }, (_, index) => change({ ...first, id: 'all' }, `one of ${index}`))
    assert.equal((await Promise.allSettled(writing)).filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal((await messages()).length, 4)
  }),

  storeCase('notes: of many who write the same at once one succeeds', async ({ store }) => {
    const writing = Array.from({ length: 8 }, (_, index) => store.writeNotes([{ ...first, doc: { index } }]))
    const ended = await Promise.allSettled(writing)
    assert.equal(ended.filter(({ status }) => status === 'fulfilled').length, 1)
    const reasons = ended.flatMap(each => (each.status === 'rejected' ? [each.reason] : []))
    assert.ok(reasons.every(reason => reason instanceof NoteConflictError))
  }),

  durableStoreCase('notes: survive', async ({ store, reopen }) => {
    await store.writeNotes([first])
    const again = await reopen()
    assert.deepEqual(await again.note('gate', 'bind'), { ...first, version: 1 })
  }),
]
