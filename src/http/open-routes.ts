import type { LedgerView, Route } from '../author/broker-definition.ts'
import type { BrokerContext } from '../broker/context.ts'
import { findDashboard } from '../broker/dashboard.ts'
import { toError } from '../observer.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import { readMarked } from '../sensitive/marked.ts'
import { hasMethods } from '../shape/fields.ts'
import { inCode, typeName } from '../shape/mistake.ts'
import { isConsolePath } from './console.ts'
import type { Exchange } from './exchange.ts'
import { type HttpRequest, type HttpResponse, originOf } from './message.ts'
import { metricsPath, metricsResponse, type ServedMetrics } from './metrics.ts'
import { guarded, json, methodNotAllowed, redirect } from './respond.ts'
import { decodeSegment, parseOsbPath } from './routes.ts'
import { isSignInPath } from './sign-in.ts'

export interface Health {
  /** Why requests cannot be served now, in a word for the operator; undefined when they can. */
  readiness(): Promise<string | undefined>
}

export interface OpenRoutes {
  readonly broker: BrokerContext
  readonly health: Health
  /** Where there are any. */
  readonly metrics?: ServedMetrics
  readonly routes: readonly Route[]
  /** Where people come from the console to sign in on another page, and back from it; absent where the console is off. */
  readonly signIn?: (exchange: Exchange) => Promise<HttpResponse>
  /** The pages of the console; absent where it is off. */
  readonly console?: (exchange: Exchange) => Promise<HttpResponse>
  /** Of bodies, in bytes; an author's route may have its own. */
  readonly bodyLimit: number
}

/** What needs no credentials, found; nothing of the body has been read. */
interface OpenRoute {
  readonly bodyLimit: number
  answer(): Promise<HttpResponse>
}

/** Health, the pages of the console, the author's own routes, and stand-in dashboard URLs, which are unguessable. */
export function findOpenRoute(options: OpenRoutes, exchange: Exchange): OpenRoute | undefined {
  const { broker, health, metrics, routes } = options
  const { request, path, method } = exchange
  // No route hides the OSB API, which most requests are for.
  if (path.startsWith('/v2/')) return undefined
  if (isHealthPath(path)) {
    exchange.route = path
    return { bodyLimit: 0, answer: () => healthResponse(health, path, method) }
  }
  if (path === metricsPath && metrics?.open) return { bodyLimit: 0, answer: () => metricsResponse(metrics, exchange) }
  if (path.startsWith('/dashboards/')) {
    exchange.route = '/dashboards/:instance/:token'
    exchange.maskedPath = exchange.route
    return { bodyLimit: 0, answer: () => dashboardRedirect(broker, method, path) }
  }
  const { console: pages, signIn } = options
  if (signIn !== undefined && isSignInPath(path)) return { bodyLimit: 0, answer: () => signIn(exchange) }
  if (pages !== undefined && isConsolePath(path)) {
    exchange.route = '/console/*'
    return { bodyLimit: 0, answer: () => pages(exchange) }
  }
  const route = findAuthorRoute(routes, method, path)
  // Where `files` is a prefix, `/files/*` does not hide `/files/v2/catalog`.
  if (route === undefined || parseOsbPath(path, broker.settings.osb.prefixes) !== undefined) return undefined
  exchange.route = route.path
  // The rest of such a path is the author's, and may be a secret.
  exchange.maskedPath = route.path
  const { bodyLimit = options.bodyLimit } = route
  return { bodyLimit, answer: () => runAuthorRoute(route, request, bodyLimit, broker.store) }
}

export function isHealthPath(path: string): boolean {
  return path === '/healthz' || path === '/readyz'
}

/** /healthz: the process answers. /readyz: it can serve requests now. */
async function healthResponse(health: Health, path: string, method: string): Promise<HttpResponse> {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  if (path === '/healthz') return json(200, { status: 'ok' })
  const trouble = await health.readiness()
  return trouble === undefined ? json(200, { status: 'ready' }) : json(503, { status: 'not ready', reason: trouble })
}

/** GET /dashboards/:instance_id/:token: leads to the dashboard of a service that says `dashboard: 'redirect'`. */
async function dashboardRedirect(broker: BrokerContext, method: string, path: string): Promise<HttpResponse> {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  const [, , id = '', token = '', ...rest] = path.split('/')
  const found =
    token === '' || rest.length > 0 ? { kind: 'none' as const } : await findDashboard(broker, decodeSegment(id), token)
  if (found.kind === 'found') return redirect(toHeaderText(found.url))
  if (found.kind === 'none') throw new BrokerError('NotFound', 'There is no dashboard at this address.')
  return {
    status: 503,
    headers: { ...guarded, 'content-type': 'text/html; charset=utf-8', 'retry-after': '5', refresh: '5' },
    body: '<!doctype html><title>Not yet</title><p>The instance is still being created. This page looks again by itself.',
  }
}

/** An author may build the URL from an id or a name as it is: what a header cannot carry is percent-encoded. */
function toHeaderText(url: string): string {
  return url.replace(/[^!-~]+/g, text => encodeURIComponent(Buffer.from(text).toString()))
}

function findAuthorRoute(routes: readonly Route[], method: string, path: string): Route | undefined {
  return routes.find(route => route.method === method && matches(route.path, path))
}

/** What an author has kept as a `Sensitive` comes back as one. */
function asAuthorsSee<Row extends { readonly state: JsonObject }>(row: Row | undefined): Row | undefined {
  return row && { ...row, state: readMarked(row.state) }
}

/** The route knows its callers, the broker does not: so no byte of the body is read before the route asks for it. */
async function runAuthorRoute(route: Route, request: HttpRequest, limit: number, ledger: LedgerView) {
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  const target = new URL(originOf(request) + request.url)
  // `/files/../v2` becomes `/v2` in a URL: the route would see a path that is not its own.
  if (!matches(route.path, target.pathname)) throw new BrokerError('NotFound', 'There is nothing at this path.')
  const body = hasBody ? streamOf(request, limit) : undefined
  const who = `the route "${route.method} ${route.path}"`
  const headers = Object.entries(request.headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
  try {
    const response = await route.handle(
      new Request(target, {
        method: request.method,
        headers,
        body: body && ReadableStream.from(body),
        duplex: 'half',
      }),
      {
        instance: async id => asAuthorsSee(await ledger.instance(id)),
        binding: async (instanceId, id) => asAuthorsSee(await ledger.binding(instanceId, id)),
      },
    )
    return await toAnswer(response, who)
  } catch (thrown) {
    throw toError(thrown, who)
  } finally {
    // Not awaited: the route may have left a read behind, which lasts until the client sends more.
    body?.return(undefined).catch(() => {})
  }
}

async function toAnswer(response: unknown, who: string): Promise<HttpResponse> {
  if (!isResponse(response)) throw new TypeError(`${who} must return a Response, not ${inCode(typeName(response))}`)
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers)
  if (response.headers.has('set-cookie')) headers['set-cookie'] = response.headers.getSetCookie()
  return { status: response.status, headers, body: new Uint8Array(await response.arrayBuffer()) }
}

/** That of a package counts as well. */
function isResponse(value: unknown): value is Response {
  return typeof value === 'object' && value !== null && 'headers' in value && hasMethods(value, 'arrayBuffer')
}

async function* streamOf(request: HttpRequest, limit: number): AsyncGenerator<Uint8Array, undefined> {
  if (request.stream === undefined) yield await request.body(limit)
  else yield* request.stream(limit)
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith('/*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern
}
