import type { Operation, OperationQuery } from '../../store.ts'
import { assert } from './assert.ts'
import { ended, everything } from './lists.ts'
import { bindingRow, claimOne, finish, leaseOf, operationRow, standing } from './rows.ts'
import { storeCase } from './subject.ts'

const far = 9_000_000_000_000

export const listCursorCases = [
  storeCase('lists: operations that come, end and go between pages move no other', async ({ store }) => {
    for (let index = 0; index < 8; index += 1) {
      await standing(store, `i${index}`)
      // Every second one has ended, `o2` long ago; of the others only `o3` is due.
      const waits = operationRow(`o${index}`, `i${index}`, { acceptedAt: 10 * index, notBefore: index === 3 ? 0 : far })
      const finishedAt = index === 2 ? 1 : 100
      const ends: Partial<Operation> = index % 2 === 0 ? { state: 'succeeded', finishedAt } : {}
      const operations = [{ ...waits, ...ends }]
      await store.accept({ instanceId: `i${index}` }, () => ({ answer: 0, change: { operations } }))
    }
    const queries: OperationQuery[] = [{}, { action: 'provision' }, { serviceId: 'service', action: 'provision' }]
    const firsts = await Promise.all(queries.map(query => store.listOperations({ ...query, limit: 3 })))
    await finish(store, leaseOf(await claimOne(store)))
    assert.equal(await store.cleanUp({ of: 'instances', states: ['succeeded'], before: 50, max: 10 }), 1)
    for (const [id, acceptedAt] of [
      ['newer', 1_000],
      ['older', 15],
    ] as const)
      await ended(store, id, 'i0', { acceptedAt })
    for (const [index, query] of queries.entries()) {
      const cursor = firsts[index]?.next
      const rest = await everything(page => store.listOperations({ ...query, ...page }), { limit: 2, cursor })
      const seen = [...(firsts[index]?.items ?? []), ...rest].map(({ id }) => id)
      assert.deepEqual(seen, ['o7', 'o6', 'o5', 'o4', 'o3', 'older', 'o1', 'o0'])
    }
  }),

  storeCase('lists: bindings that come and go between pages move no other', async ({ store }) => {
    await standing(store, 'i')
    const put = (...rows: (readonly [id: string, createdAt: number, phase?: 'deleted'])[]) => {
      const bindings = rows.map(([id, createdAt, phase = 'ready' as const]) =>
        bindingRow('i', id, { createdAt, phase, deletedAt: phase === 'deleted' ? 1 : undefined }),
      )
      return store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { bindings } }))
    }
    await put(['a', 10], ['b', 20], ['c', 30], ['d', 40], ['e', 50], ['f', 60])
    const queries = [{}, { planId: 'plan' }, { serviceId: 'service' }, { instanceId: 'i' }]
    const firsts = await Promise.all(queries.map(query => store.listBindings({ ...query, limit: 2 })))
    await put(['newer', 70], ['older', 15], ['e', 50, 'deleted'], ['c', 30, 'deleted'])
    for (const [index, query] of queries.entries()) {
      const cursor = firsts[index]?.next
      const rest = await everything(page => store.listBindings({ ...query, ...page }), { limit: 2, cursor })
      const seen = [...(firsts[index]?.items ?? []), ...rest].map(({ id }) => id)
      assert.deepEqual(seen, ['f', 'e', 'd', 'b', 'older', 'a'])
    }
  }),
]
