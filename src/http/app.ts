import type { Authenticator, Principal } from '../authenticator.ts'
import type { Route } from '../author/broker-definition.ts'
import type { RunningChores } from '../broker/chores/by-hand.ts'
import type { BrokerContext, Caller } from '../broker/context.ts'
import { latestMinor, parseApiVersion } from '../protocol/api-version.ts'
import { BrokerError } from '../protocol/errors.ts'
import { parseOriginatingIdentity } from '../protocol/identity.ts'
import { parseQuery } from '../protocol/query.ts'
import { handleAdmin, isAdminPath } from './admin/admin-app.ts'
import { findAuthorRoute, runAuthorRoute } from './author-route.ts'
import { dashboardRedirect } from './dashboard-redirect.ts'
import { type Health, healthResponse } from './health.ts'
import type { HttpApp, HttpRequest, HttpResponse } from './message.ts'
import type { PresentCatalog } from './osb/fetch-catalog.ts'
import { readJsonObject } from './read-body.ts'
import { respondToError } from './respond.ts'
import { createRoutes, findEndpoint, type OsbPath, parseOsbPath } from './routes.ts'

export interface AppOptions {
  readonly broker: BrokerContext
  readonly authenticator: Authenticator
  readonly health: Health
  readonly chores: RunningChores
  /** The registries of the configuration, for operators. */
  readonly registries?: readonly { readonly name: string; readonly type: string }[]
  readonly routes: readonly Route[]
  readonly presentCatalog?: PresentCatalog
  readonly bodyLimit: number
  /** Where platforms and browsers reach this broker; made from the Host header where it is not set. */
  readonly publicUrl?: string
}

const requestIdentity = 'x-broker-api-request-identity'

/** The application: the order of its checks is the order of the lines (401, version, route, body, then the use case). */
export function createApp(options: AppOptions): HttpApp {
  const { broker, authenticator } = options
  const routes = createRoutes(options.presentCatalog)

  const handle = async (request: HttpRequest, path: string, query: string): Promise<HttpResponse> => {
    const open = openRoute(options, request, path)
    if (open !== undefined) return open
    const found = authenticator.authenticate(request.headers)
    // Who is known already is known at once: no turn of the event loop for the many polls of a platform.
    const principal = found instanceof Promise ? await found : found
    if (principal === undefined) throw unauthorized()
    if (isAdminPath(path)) return handleAdmin(options, principal, request.method, path)
    if (!principal.roles.includes('platform')) throw unauthorized()
    const minor = readVersion(request, broker.settings.missingVersionStatus)
    const target = parseOsbPath(path)
    if (target === undefined)
      throw new BrokerError('NotFound', 'There is nothing at this path. The OSB API is under /v2.')
    const endpoint = findEndpoint(routes, target, request.method)
    // Awaited here: returned as it is, a promise costs two more turns of the queue.
    return await endpoint(broker, {
      caller: toCaller(request, principal, target, options.publicUrl),
      minor,
      instanceId: target.instanceId,
      bindingId: target.bindingId,
      query: parseQuery(query),
      ifNoneMatch: request.headers['if-none-match'],
      body: () => readJsonObject(request, options.bodyLimit),
    })
  }

  return request => {
    const { url, headers } = request
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const query = mark < 0 ? '' : url.slice(mark + 1)
    const identity = headers[requestIdentity]
    const answered = handle(request, path, query).catch(error =>
      withChallenge(respondToError(error, minorOf(request), broker.observer, identity), authenticator),
    )
    return identity === undefined ? answered : answered.then(response => withIdentity(response, headers))
  }
}

/**
 * Every answer repeats the name that the platform gave to its request. Node writes headers in the encoding of a string body:
 * where that would change the name, the body goes as bytes.
 */
export function withIdentity(
  response: HttpResponse,
  { [requestIdentity]: identity }: HttpRequest['headers'],
): HttpResponse {
  if (identity === undefined) return response
  const headers = { ...response.headers, [requestIdentity]: identity }
  return /[\u0080-\uffff]/.test(identity)
    ? { ...response, headers, body: Buffer.from(response.body) }
    : { ...response, headers }
}

/** What needs no credentials: health, the author's own routes, and the URLs that lead to a dashboard, which nobody can guess. */
function openRoute(
  { broker, health, routes }: AppOptions,
  request: HttpRequest,
  path: string,
): Promise<HttpResponse> | undefined {
  if (path === '/healthz' || path === '/readyz') return healthResponse(health, path, request.method)
  if (path.startsWith('/dashboards/')) return dashboardRedirect(broker, request.method, path)
  const route = findAuthorRoute(routes, request.method, path)
  return route === undefined ? undefined : runAuthorRoute(route, request, broker.store)
}

function unauthorized(): BrokerError {
  return new BrokerError('Unauthorized', 'Send the credentials that were agreed for this broker.')
}

function readVersion(request: HttpRequest, missingStatus: 400 | 412): number {
  const version = parseApiVersion(request.headers['x-broker-api-version'])
  if (version === 'missing')
    throw new BrokerError('MissingApiVersion', 'Send the header X-Broker-API-Version, for example 2.17.', {
      status: missingStatus,
    })
  if (version === 'unsupported')
    throw new BrokerError('UnsupportedApiVersion', 'This broker serves version 2.x of the OSB API, up to 2.17.')
  return version.minor
}

/** Errors before the version is read are told in full to those who announced none. */
function minorOf(request: HttpRequest): number {
  const version = parseApiVersion(request.headers['x-broker-api-version'])
  return typeof version === 'string' ? latestMinor : version.minor
}

function toCaller(
  request: HttpRequest,
  principal: Principal,
  { prefix }: OsbPath,
  publicUrl: string | undefined,
): Caller {
  const identity = parseOriginatingIdentity(request.headers['x-broker-api-originating-identity'])
  const requestId = request.headers[requestIdentity]
  return {
    platform: prefix === undefined ? principal.platform : `${principal.platform}/${prefix}`,
    identity,
    requestId,
    traceparent: request.headers.traceparent,
    baseUrl: () => publicUrl ?? hereOf(request),
  }
}

function hereOf({ encrypted, headers, mount = '' }: HttpRequest): string {
  return `${encrypted ? 'https' : 'http'}://${headers.host ?? 'localhost'}${mount}`
}

function withChallenge(response: HttpResponse, authenticator: Authenticator): HttpResponse {
  if (response.status !== 401) return response
  return { ...response, headers: { ...response.headers, 'www-authenticate': authenticator.challenge } }
}
