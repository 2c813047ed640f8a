import { BrokerError } from '../protocol/errors.ts'
import { malformed, readOrRefuse } from '../protocol/request-fields.ts'
import { bindEndpoint, fetchBindingEndpoint, unbindEndpoint } from './osb/bindings.ts'
import type { Endpoint } from './osb/endpoint.ts'
import { createCatalogEndpoint, type PresentCatalog } from './osb/fetch-catalog.ts'
import { deprovisionEndpoint, fetchInstanceEndpoint, provisionEndpoint, updateEndpoint } from './osb/instances.ts'
import { lastBindingOperationEndpoint, lastInstanceOperationEndpoint } from './osb/last-operation.ts'
import { methodNotAllowed } from './respond.ts'

export type RouteTable = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>

/** The whole OSB API but for the catalog. `:instance` and `:binding` stand for one segment each. */
const resources: RouteTable = {
  'service_instances/:instance': {
    PUT: provisionEndpoint,
    GET: fetchInstanceEndpoint,
    PATCH: updateEndpoint,
    DELETE: deprovisionEndpoint,
  },
  'service_instances/:instance/last_operation': { GET: lastInstanceOperationEndpoint },
  'service_instances/:instance/service_bindings/:binding': {
    PUT: bindEndpoint,
    GET: fetchBindingEndpoint,
    DELETE: unbindEndpoint,
  },
  'service_instances/:instance/service_bindings/:binding/last_operation': { GET: lastBindingOperationEndpoint },
}

export function createRoutes(presentCatalog: PresentCatalog | undefined): RouteTable {
  return { catalog: { GET: createCatalogEndpoint(presentCatalog) }, ...resources }
}

const names: ReadonlyMap<readonly string[], string> = new Map(
  ['catalog', ...Object.keys(resources)].map(name => [name.split('/'), name]),
)
const patterns = [...names.keys()]

export interface OsbPath {
  /** What stands before `/v2`, if anything: which platform this is (GEN-07). */
  readonly prefix: string | undefined
  /** The key of the route table; undefined where the path is under /v2 and the OSB API has no such path. */
  readonly route: string | undefined
  readonly instanceId: string
  readonly bindingId: string
}

const catalog: OsbPath = { prefix: undefined, route: 'catalog', instanceId: '', bindingId: '' }

/** Splits, then decodes: `%2F` stays inside an id (URL-07). Undefined for paths outside `/v2` and `/:prefix/v2`. */
export function parseOsbPath(path: string, prefixes: readonly string[]): OsbPath | undefined {
  if (path === '/v2/catalog') return catalog
  const segments = path.split('/')
  const [, first = ''] = segments
  const prefix = first === 'v2' ? undefined : first
  if (prefix !== undefined && (segments[2] !== 'v2' || !prefixes.includes(prefix))) return undefined
  const from = prefix === undefined ? 2 : 3
  const pattern = findPattern(patterns, segments, from)
  if (pattern === undefined) return { prefix, route: undefined, instanceId: '', bindingId: '' }
  const instanceId = decodeSegment(segments[from + 1] ?? '')
  const bindingId = decodeSegment(segments[from + 3] ?? '')
  return { prefix, route: names.get(pattern), instanceId, bindingId }
}

/** The pattern that the segments fit, `from` one of them on. A part with a colon stands for any segment that is not empty. */
export function findPattern(patterns: readonly (readonly string[])[], segments: readonly string[], from = 0) {
  for (const parts of patterns) if (fits(parts, segments, from)) return parts
  return undefined
}

/** Without a function for each part: every request comes by here. */
function fits(parts: readonly string[], segments: readonly string[], from: number): boolean {
  if (parts.length !== segments.length - from) return false
  for (let index = 0; index < parts.length; index++) {
    const segment = segments[from + index]
    if (parts[index]?.[0] === ':' ? segment === '' : parts[index] !== segment) return false
  }
  return true
}

export function findEndpoint(routes: RouteTable, path: OsbPath, method: string): Endpoint {
  const methods = path.route === undefined ? undefined : routes[path.route]
  if (methods === undefined) throw new BrokerError('NotFound', 'The OSB API has no such path.')
  const endpoint = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (endpoint === undefined) throw methodNotAllowed(Object.keys(methods))
  return endpoint
}

/** Every character may be part of an id but NUL, which too many programs take for the end of a text. */
export function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment
  if (segment.includes('%00')) throw malformed('an id in the path holds a NUL character')
  return readOrRefuse(() => decodeURIComponent(segment), 'the path has a broken percent-escape')
}
