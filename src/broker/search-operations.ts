import { parseJson } from '../protocol/json.ts'
import { CursorError, type OperationQuery, type OperationSummary, type Page } from '../store.ts'

/** So many rows are looked at for one page of what was found. */
const budget = 2_000
const pageSize = 500

interface Search {
  readonly words: string
  readonly cursor?: string
  readonly limit?: number
}

/**
 * The operations of a list that hold the words in an id, a description or an error. There is no index of words: a page looks at
 * a number of rows, and where that found less than was asked for, `next` goes on from there.
 */
export async function searchOperations(
  list: (page: Pick<OperationQuery, 'cursor' | 'limit' | 'examine'>) => Promise<Page<OperationSummary>>,
  { words, cursor, limit = 50 }: Search,
): Promise<Page<OperationSummary>> {
  const wanted = words.toLowerCase()
  const found: OperationSummary[] = []
  let place = readPlace(cursor)
  for (let looked = 0; looked < budget; looked += pageSize) {
    const { items, next } = await list({ cursor: place.page, limit: pageSize, examine: pageSize })
    const seen = items.findIndex(({ id }) => id === place.after)
    for (const item of items.slice(seen + 1)) {
      if (!holds(item, wanted)) continue
      if (found.length === limit) return { items: found, next: writePlace({ ...place, after: found.at(-1)?.id }) }
      found.push(item)
    }
    if (next === undefined) return { items: found }
    place = { page: next }
  }
  return { items: found, next: writePlace(place) }
}

function holds(operation: OperationSummary, words: string): boolean {
  const { id, instanceId, bindingId, requestId, description, error } = operation
  return [id, instanceId, bindingId, requestId, description, error?.message, error?.step].some(
    text => text?.toLowerCase().includes(words) === true,
  )
}

/** A page of the list, and the row in it that was found last. */
interface Place {
  readonly page?: string
  readonly after?: string
}

function writePlace({ page, after }: Place): string {
  return Buffer.from(JSON.stringify(['search', page ?? '', after ?? ''])).toString('base64url')
}

function readPlace(cursor: string | undefined): Place {
  if (cursor === undefined) return {}
  const parsed = parseJson(Buffer.from(cursor, 'base64url').toString())
  const [name, page, after] = Array.isArray(parsed) ? parsed : []
  if (name !== 'search' || typeof page !== 'string' || typeof after !== 'string')
    throw new CursorError('the cursor is not one of a search: begin without a cursor')
  return { page: page || undefined, after: after || undefined }
}
