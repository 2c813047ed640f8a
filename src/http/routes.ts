import { BrokerError } from '../protocol/errors.ts'
import { malformed, readOrRefuse } from '../protocol/request-fields.ts'
import { bindEndpoint, fetchBindingEndpoint, unbindEndpoint } from './osb/bindings.ts'
import type { Endpoint } from './osb/endpoint.ts'
import { createCatalogEndpoint, type PresentCatalog } from './osb/fetch-catalog.ts'
import { deprovisionEndpoint, fetchInstanceEndpoint, provisionEndpoint, updateEndpoint } from './osb/instances.ts'
import { lastBindingOperationEndpoint, lastInstanceOperationEndpoint } from './osb/last-operation.ts'
import { methodNotAllowed } from './respond.ts'

export type RouteTable = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>

const instance = '/v2/service_instances/:instance'
const lastInstanceOperation = `${instance}/last_operation`
const binding = `${instance}/service_bindings/:binding`
const lastBindingOperation = `${binding}/last_operation`

/** The whole OSB API but for the catalog. `:instance` and `:binding` stand for one segment each. */
const resources: RouteTable = {
  [instance]: {
    PUT: provisionEndpoint,
    GET: fetchInstanceEndpoint,
    PATCH: updateEndpoint,
    DELETE: deprovisionEndpoint,
  },
  [lastInstanceOperation]: { GET: lastInstanceOperationEndpoint },
  [binding]: {
    PUT: bindEndpoint,
    GET: fetchBindingEndpoint,
    DELETE: unbindEndpoint,
  },
  [lastBindingOperation]: { GET: lastBindingOperationEndpoint },
}

export function createRoutes(presentCatalog: PresentCatalog | undefined): RouteTable {
  return { '/v2/catalog': { GET: createCatalogEndpoint(presentCatalog) }, ...resources }
}

export interface OsbPath {
  /** What stands before `/v2`, if anything: which platform this is (GEN-07). */
  readonly prefix: string | undefined
  /** The key of the route table; undefined where the path is under /v2 and the OSB API has no such path. */
  readonly route: string | undefined
  readonly instanceId: string
  readonly bindingId: string
}

const catalog: OsbPath = { prefix: undefined, route: '/v2/catalog', instanceId: '', bindingId: '' }

/** Splits, then decodes: `%2F` stays inside an id (URL-07). Undefined for paths outside `/v2` and `/:prefix/v2`. */
export function parseOsbPath(path: string, prefixes: readonly string[]): OsbPath | undefined {
  if (path === '/v2/catalog') return catalog
  if (path.startsWith('/v2/')) return parseResource(undefined, path)
  const segments = path.split('/')
  const [, first = ''] = segments
  const prefix = first === 'v2' ? undefined : first
  if (prefix !== undefined && (segments[2] !== 'v2' || !prefixes.includes(prefix))) return undefined
  return parseResource(prefix, prefix === undefined ? path : path.slice(1 + prefix.length))
}

/** One expression for the four routes of `resources`: each poll comes by here, and a list of segments takes longer. */
const resource = /^\/v2\/service_instances\/([^/]+)(?:\/service_bindings\/([^/]+))?(\/last_operation)?$/

function parseResource(prefix: string | undefined, path: string): OsbPath {
  const found = resource.exec(path)
  if (found === null) return { prefix, route: path === catalog.route ? path : undefined, instanceId: '', bindingId: '' }
  const [, instanceId = '', bindingId = '', polls] = found
  const ofBinding = polls === undefined ? binding : lastBindingOperation
  const ofInstance = polls === undefined ? instance : lastInstanceOperation
  return {
    prefix,
    route: bindingId === '' ? ofInstance : ofBinding,
    instanceId: decodeSegment(instanceId),
    bindingId: decodeSegment(bindingId),
  }
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
