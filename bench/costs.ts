import { systemClock } from '../src/clock.ts'
import { newId } from '../src/domain/new-id.ts'
import type { Store } from '../src/store.ts'
import { newOperationRows } from './rows.ts'

/** Microseconds for each call. */
export interface Costs {
  readonly accept: number
  readonly poll: number
  readonly 'claim and finish': number
}

const batch = 2_000

/** What an accept, a poll and a claim with its end cost now; `callers` accept at the same time. */
export async function measureCosts(store: Store, callers = batch): Promise<Costs> {
  const ids = Array.from({ length: batch }, () => newId(systemClock.now()))
  let next = 0
  const accept = await perCall(() =>
    Promise.all(
      Array.from({ length: callers }, async () => {
        for (let id = ids[next++]; id !== undefined; id = ids[next++]) await acceptProvision(store, id)
      }),
    ),
  )
  const poll = await perCall(async () => {
    for (const id of ids) {
      await store.instance(id)
      await store.operation(`op-${id}`)
    }
  })
  const claim = await perCall(async () => {
    for (let left = batch; left > 0; left -= 100) {
      const { claims } = await store.claim('bench', 100, 30_000)
      await Promise.all(
        claims.map(({ operation }) =>
          store.finish({ operationId: operation.id, fence: operation.fence }, ({ finishing }) => ({
            operations: [{ ...finishing, state: 'succeeded' }],
          })),
        ),
      )
    }
  })
  return { accept, poll, 'claim and finish': claim }
}

/** Accepts a provision of a new instance, with its line of history. */
export function acceptProvision(store: Store, id: string): Promise<void> {
  return store.accept({ instanceId: id }, ({ now }) => {
    const { instance, operation } = newOperationRows(id, now)
    const event = { at: now, type: 'accepted', instanceId: id, operationId: operation.id, action: 'provision' } as const
    return { answer: undefined, change: { instance, operations: [operation], history: [event] } }
  })
}

/** `instance-<first>` and on, by so many callers at a time. */
export async function acceptMany(store: Store, first: number, count: number, callers: number): Promise<void> {
  let next = first
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < first + count) await acceptProvision(store, `instance-${next++}`)
    }),
  )
}

async function perCall(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return ((performance.now() - started) * 1000) / batch
}
