import type { ListBody, OsbResponse } from '../client/index.ts'
import { refusal } from './refusal.ts'
import type { Session } from './session.ts'

/** The largest page that a broker gives. */
const pageSize = 200

/** Reads pages until there are as many rows as `--limit` asks for. `next`: there are more. */
export async function readList<Item>(
  session: Session,
  what: string,
  read: (page: {
    readonly order?: string
    readonly limit: string
    readonly cursor?: string
  }) => Promise<OsbResponse<ListBody<Item>>>,
): Promise<{ readonly items: readonly Item[]; readonly next?: string }> {
  const { order, limit = 50 } = session.options
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const response = await read({ order, cursor, limit: String(Math.min(pageSize, limit - items.length)) })
    if (response.status !== 200 || !Array.isArray(response.body.items))
      throw refusal(`could not list ${what}`, response)
    items.push(...response.body.items)
    cursor = response.body.next
  } while (cursor !== undefined && items.length < limit)
  if (cursor !== undefined && session.options.output === 'text')
    session.note(`There are more ${what}: raise --limit, or ask for fewer.`)
  return { items, next: cursor }
}
