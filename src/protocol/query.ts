import { malformed, readOrRefuse } from './request-fields.ts'

/** The query of a request: each parameter of the OSB API at most once, decoded once. An empty one counts as absent. */
export type Query = Readonly<Record<(typeof names)[number], string | undefined>>

const names = ['service_id', 'plan_id', 'accepts_incomplete', 'operation'] as const
export const noQuery: Query = {
  service_id: undefined,
  plan_id: undefined,
  accepts_incomplete: undefined,
  operation: undefined,
}

/** A parameter of ours that comes twice is refused: platforms and proxies disagree about which one counts. */
export function parseQuery(text: string): Query {
  if (text === '') return noQuery
  const query = { ...noQuery }
  const escaped = text.includes('%') || text.includes('+')
  for (let from = 0, end = 0; from < text.length; from = end + 1) {
    end = indexOrEnd(text, '&', from, text.length)
    const equals = indexOrEnd(text, '=', from, end)
    const name = escaped ? decode(text.slice(from, equals)) : text.slice(from, equals)
    const value = escaped ? decode(text.slice(equals + 1, end)) : text.slice(equals + 1, end)
    for (const known of names) {
      if (name !== known) continue
      if (query[known] !== undefined) throw malformed(`the query parameter ${name} came twice`)
      query[known] = value
    }
  }
  for (const known of names) query[known] ||= undefined
  return query
}

function indexOrEnd(text: string, mark: string, from: number, end: number): number {
  const index = text.indexOf(mark, from)
  return index < 0 || index > end ? end : index
}

/** Only the literal `true` means true (T-11). */
export function acceptsIncomplete(query: Query): boolean {
  return query.accepts_incomplete === 'true'
}

/** DELETE of an instance or a binding: both ids are mandatory query parameters. */
export interface DeletionRequest {
  readonly serviceId: string
  readonly planId: string
}

export function parseDeletion(query: Query): DeletionRequest {
  return { serviceId: required(query, 'service_id'), planId: required(query, 'plan_id') }
}

function required(query: Query, name: keyof Query): string {
  const value = query[name]
  if (value === undefined) throw malformed(`the query parameter ${name} is required`)
  return value
}

function decode(text: string): string {
  return readOrRefuse(() => decodeURIComponent(text.replaceAll('+', ' ')), 'the query has a broken percent-escape')
}
