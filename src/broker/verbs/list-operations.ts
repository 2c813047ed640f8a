import { isHeld, type Operation } from '../../domain/operation.ts'
import type { OperationQuery, OperationSummary, Page, Reads } from '../../reads.ts'

/** How many pages of the queue are looked through for one that is held. */
const most = 20

/** `held` are those of the queue that are. A page may be short, also empty, and still have one after it. */
export async function listOperations(
  store: Pick<Reads, 'listOperations'>,
  { state, ...query }: Omit<OperationQuery, 'state'> & { readonly state?: Operation['state'] | 'held' },
): Promise<Page<OperationSummary>> {
  if (state !== 'held') return store.listOperations({ ...query, state })
  let { cursor } = query
  for (let pages = 1; ; pages += 1) {
    const { items, next } = await store.listOperations({ ...query, cursor, state: 'queued' })
    const held = items.filter(isHeld)
    if (held.length > 0 || next === undefined || pages === most) return { items: held, next }
    cursor = next
  }
}
