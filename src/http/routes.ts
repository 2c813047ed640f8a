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

const patterns = ['catalog', ...Object.keys(resources)].map(pattern => pattern.split('/'))

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
  const rest = segments.slice(prefix === undefined ? 2 : 3)
  const route = findPattern(patterns, rest)?.join('/')
  const [, instance = '', , binding = ''] = route === undefined ? [] : rest
  return { prefix, route, instanceId: decodeSegment(instance), bindingId: decodeSegment(binding) }
}

/** The pattern that a path fits. A part with a colon stands for any segment that is not empty. */
export function findPattern(patterns: readonly (readonly string[])[], segments: readonly string[]) {
  const fits = (part: string, index: number) => (part[0] === ':' ? segments[index] !== '' : part === segments[index])
  return patterns.find(parts => parts.length === segments.length && parts.every(fits))
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
