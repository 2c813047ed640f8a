import { malformed } from '../../protocol/request-fields.ts'
import { oneOf, text, wholeNumber } from '../../shape/fields.ts'
import { optional, type Read, type Shape } from '../../shape/shape.ts'
import { CursorError, type Page } from '../../store.ts'
import type { HttpResponse } from '../message.ts'
import { json } from '../respond.ts'
import { readFields } from './read-fields.ts'
import { toBody } from './to-body.ts'

/** What every list can be asked for. */
export const pageFields = {
  order: optional(oneOf(['newest', 'oldest'])),
  limit: optional(wholeNumber(1, 200)),
  cursor: optional(text()),
}

/** A time, which becomes milliseconds by `toMs`. */
export const time = text({
  rule: 'a time such as 2026-01-01T00:00:00Z',
  allows: words => /^\d{4}-\d\d-\d\d/.test(words) && !Number.isNaN(Date.parse(words)),
})

export function toMs(words: string | undefined): number | undefined {
  return words === undefined ? undefined : Date.parse(words)
}

/** Answers `items`, and `next` where there is another page: the cursor to ask for it. */
export async function answerList<S extends Shape>(
  shape: S,
  query: string,
  list: (wanted: Read<S>) => Promise<Page<object>>,
): Promise<HttpResponse> {
  const wanted = readQuery(shape, query)
  try {
    const { items, next } = await list(wanted)
    return json(200, { items: items.map(toBody), next })
  } catch (error) {
    throw error instanceof CursorError ? malformed(error.message) : error
  }
}

/** What the query asks for, as the shape has it. */
export function readQuery<S extends Shape>(shape: S, query: string): Read<S> {
  return readFields(shape, toFilters(query), { textAsValues: true })
}

/** Each at most once; an empty one counts as absent. */
export function toFilters(query: string): Readonly<Record<string, string>> {
  const given = [...new URLSearchParams(query)].filter(([, value]) => value !== '')
  const filters = new Map(given)
  if (filters.size < given.length) throw malformed('a parameter of the query came twice')
  return Object.fromEntries(filters)
}
