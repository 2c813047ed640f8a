import { type Authenticator, checkAnswer, isRefusal, type Refusal } from '../authenticator.ts'
import type { BrokerContext, Caller } from '../broker/context.ts'
import { latestMinor, parseApiVersion } from '../protocol/api-version.ts'
import { BrokerError } from '../protocol/errors.ts'
import { parseOriginatingIdentity } from '../protocol/identity.ts'
import { acceptsIncomplete, parseQuery } from '../protocol/query.ts'
import { type AdminContext, handleAdmin, isAdminPath } from './admin/admin-app.ts'
import { createAdmission, openLimits, type Wanted } from './admission.ts'
import { createHostCheck, type HostRules } from './check-host.ts'
import { Exchange, requestIdentity, toEnded } from './exchange.ts'
import { type HttpApp, type HttpRequest, type HttpResponse, originOf } from './message.ts'
import { findOpenRoute, isHealthPath, type OpenRoutes } from './open-routes.ts'
import type { PresentCatalog } from './osb/fetch-catalog.ts'
import { readJsonObject } from './read-body.ts'
import { respondToError } from './respond.ts'
import { createRoutes, findEndpoint, parseOsbPath } from './routes.ts'

export interface AppOptions extends OpenRoutes, AdminContext, HostRules {
  readonly broker: BrokerContext
  readonly authenticator: Authenticator
  readonly presentCatalog?: PresentCatalog
  /** Where platforms and browsers reach this broker; made from the Host header where it is not set. */
  readonly publicUrl?: string
}

const nothingThere =
  'There is nothing at this path. The OSB API is under /v2, and under /<prefix>/v2 for the names in osb.prefixes.'

/** The application: the order of its checks is the order of the lines (Host, 503, 401, version, route, body, then the use case). */
export function createApp(options: AppOptions): HttpApp {
  const { broker, authenticator } = options
  const { observer, clock } = broker
  const routes = createRoutes(options.presentCatalog)
  const admit = createAdmission(clock)
  const checkHost = createHostCheck(options)
  // Apart: whoever is nobody must not take the places of platforms.
  const admitOpen = createAdmission(clock, openLimits)

  const handle = async (exchange: Exchange): Promise<HttpResponse> => {
    const { request, path, headers } = exchange
    checkHost(headers.host, path)
    const open = findOpenRoute(options, exchange)
    const wanted = toWanted(exchange, open?.bodyLimit ?? options.bodyLimit)
    // Whoever asks how the broker is gets an answer above all when it is not well.
    if (!isHealthPath(path)) exchange.visit = open === undefined ? admit(wanted) : admitOpen(wanted)
    if (open !== undefined) return open.answer()
    const found = authenticator.authenticate(exchange)
    // Without a turn of the event loop where the answer is known at once, as for the many polls of a platform.
    const principal = checkAnswer(authenticator, found instanceof Promise ? await found : found)
    if (principal === undefined || isRefusal(principal)) throw unauthorized(exchange, principal)
    exchange.principal = principal
    if (isAdminPath(path)) return handleAdmin(options, exchange, principal)
    if (!principal.roles.includes('platform'))
      throw unauthorized(exchange, { refused: 'these credentials may not use the OSB API' })
    const minor = readVersion(exchange, broker.settings.osb.missingVersion)
    const target = parseOsbPath(path, broker.settings.osb.prefixes)
    if (target === undefined) throw new BrokerError('NotFound', nothingThere)
    if (target.route !== undefined) exchange.route = `/v2/${target.route}`
    const endpoint = findEndpoint(routes, target, request.method)
    exchange.platform = target.prefix === undefined ? principal.platform : `${principal.platform}/${target.prefix}`
    const query = parseQuery(exchange.query)
    // Awaited here: a promise that is returned costs two more turns of the queue.
    return await endpoint(broker, {
      caller: toCaller(exchange, exchange.platform, options.publicUrl),
      minor,
      instanceId: target.instanceId,
      bindingId: target.bindingId,
      query,
      acceptsIncomplete: acceptsIncomplete(query),
      ifNoneMatch: headers['if-none-match'],
      async body() {
        const since = clock.now()
        const body = await readJsonObject(request, options.bodyLimit)
        exchange.visit?.waitedSince(since)
        return body
      },
    })
  }

  /** Operators are told why; clients are not. */
  function unauthorized(exchange: Exchange, refusal: Refusal | undefined): BrokerError {
    const { method, path, address, requestId } = exchange
    exchange.challenge = refusal?.challenge
    observer['authentication.failed']?.({
      scheme: refusal && (refusal.scheme ?? authenticator.scheme),
      reason: refusal?.refused ?? 'no credentials of a kind that is accepted',
      method,
      path,
      address,
      requestId,
    })
    if (refusal?.retryAfter !== undefined)
      return new BrokerError('TooManyLogins', 'There were too many attempts to log in. Repeat the request later.', {
        retryAfter: Math.max(1, Math.ceil(refusal.retryAfter)),
      })
    return new BrokerError('Unauthorized', 'Send the credentials that were agreed for this broker.')
  }

  function refuse(error: unknown, exchange: Exchange): HttpResponse {
    const response = respondToError(error, { minor: minorOf(exchange), observer, requestId: exchange.requestId })
    const challenge = exchange.challenge ?? authenticator.challenge
    if (response.status !== 401 || challenge === undefined) return response
    return { ...response, headers: { ...response.headers, 'www-authenticate': [challenge].flat() } }
  }

  return async request => {
    const exchange = new Exchange(request)
    const startedAt = clock.now()
    let response: HttpResponse
    try {
      response = await handle(exchange)
    } catch (error) {
      response = refuse(error, exchange)
    }
    exchange.visit?.leave()
    if (exchange.requestId !== undefined) response = withIdentity(response, request.headers)
    observer['request.ended']?.(toEnded(exchange, response, startedAt, clock.now()))
    return response
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

function toWanted({ method, headers }: Exchange, bodyLimit: number): Wanted {
  const length = Number(headers['content-length'] ?? 0)
  return {
    isNew: method === 'PUT' || method === 'PATCH' || method === 'POST',
    bodyBytes: headers['transfer-encoding'] === undefined ? Math.min(length, bodyLimit) : bodyLimit,
  }
}

function readVersion({ headers }: Exchange, missingStatus: 400 | 412): number {
  const version = parseApiVersion(headers['x-broker-api-version'])
  if (version === 'missing')
    throw new BrokerError('MissingApiVersion', 'Send the header X-Broker-API-Version, for example 2.17.', {
      status: missingStatus,
    })
  if (version === 'unsupported')
    throw new BrokerError('UnsupportedApiVersion', 'This broker serves version 2.x of the OSB API, up to 2.17.')
  return version.minor
}

/** Without an announced version, errors are answered in full. */
function minorOf({ headers }: Exchange): number {
  const version = parseApiVersion(headers['x-broker-api-version'])
  return typeof version === 'string' ? latestMinor : version.minor
}

function toCaller(exchange: Exchange, platform: string, publicUrl: string | undefined): Caller {
  const { request, headers, requestId } = exchange
  return {
    platform,
    identity: parseOriginatingIdentity(headers['x-broker-api-originating-identity']),
    requestId,
    traceparent: headers.traceparent,
    onOperation: id => {
      exchange.operationId = id
      exchange.visit?.leave()
    },
    baseUrl: () => publicUrl ?? originOf(request) + (request.mount ?? ''),
  }
}
