import { malformed, readOrRefuse } from './request-fields.ts'

/** The query of a request: each parameter at most once, decoded once. An empty one counts as absent. */
export type Query = ReadonlyMap<string, string>

const nothing: Query = new Map()
const known = new Set(['service_id', 'plan_id', 'accepts_incomplete', 'operation'])

/** A parameter of ours that comes twice is refused: platforms and proxies disagree about which one counts. */
export function parseQuery(text: string): Query {
  if (text === '') return nothing
  const query = new Map<string, string>()
  for (const part of text.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals < 0 ? part : part.slice(0, equals))
    const value = equals < 0 ? '' : decode(part.slice(equals + 1))
    if (known.has(name) && query.has(name)) throw malformed(`the query parameter ${name} came twice`)
    query.set(name, value)
  }
  for (const [name, value] of query) if (value === '') query.delete(name)
  return query
}

/** Only the literal `true` means true (T-11). */
export function acceptsIncomplete(query: Query): boolean {
  return query.get('accepts_incomplete') === 'true'
}

/** DELETE of an instance or a binding: both ids are mandatory query parameters. */
export interface DeletionRequest {
  readonly serviceId: string
  readonly planId: string
}

export function parseDeletion(query: Query): DeletionRequest {
  return { serviceId: required(query, 'service_id'), planId: required(query, 'plan_id') }
}

function required(query: Query, name: string): string {
  const value = query.get(name)
  if (value === undefined) throw malformed(`the query parameter ${name} is required`)
  return value
}

function decode(text: string): string {
  if (!/[%+]/.test(text)) return text
  return readOrRefuse(() => decodeURIComponent(text.replaceAll('+', ' ')), 'the query has a broken percent-escape')
}
