import { type Authenticator, checkAnswer, isRefusal, type Refusal } from '../authenticator.ts'
import type { BrokerContext } from '../broker/context.ts'
import { OperationChanges } from '../broker/operation-changes.ts'
import { latestMinor, parseApiVersion } from '../protocol/api-version.ts'
import { BrokerError } from '../protocol/errors.ts'
import { parseQuery } from '../protocol/query.ts'
import { type AdminContext, handleAdmin, isAdminPath } from './admin/admin-app.ts'
import { type ApbRoutes, handleApb, parseApbPath } from './admin/apb-app.ts'
import { refuseCrossSite } from './admin/cross-site.ts'
import { checkRole } from './admin/roles.ts'
import { isSignIn } from './admin/session.ts'
import { Streams } from './admin/streams.ts'
import { Admission, openLimits, type Wanted } from './admission.ts'
import { Answering } from './answering.ts'
import { createHostCheck, type HostRules } from './check-host.ts'
import { Exchange, requestIdentity, toEnded } from './exchange.ts'
import { createRequestLimit, type RequestThrottle } from './limit-requests.ts'
import type { HttpApp, HttpRequest, HttpResponse } from './message.ts'
import { metricsPath, metricsResponse } from './metrics.ts'
import { findOpenRoute, isHealthPath, type OpenRoutes } from './open-routes.ts'
import type { PresentCatalog } from './osb/fetch-catalog.ts'
import { createRefusalPace } from './pace-refusals.ts'
import { respondToError } from './respond.ts'
import { createRoutes, findEndpoint, parseOsbPath } from './routes.ts'
import { findSessionToken, isReachedByTls } from './session-cookie.ts'
import { createSessions } from './sessions.ts'
import { createSignInRoutes } from './sign-in.ts'
import { traceRequest } from './trace-request.ts'

export interface AppOptions
  extends Omit<OpenRoutes, 'signIn'>,
    Omit<AdminContext, 'streams' | 'changes' | 'sessions'>,
    HostRules {
  /** Aborted when the process is about to stop. */
  readonly leaving: AbortSignal
  readonly broker: BrokerContext
  readonly authenticator: Authenticator
  readonly presentCatalog?: PresentCatalog
  /** Where the tools of the Automation Broker are served. */
  readonly apb?: ApbRoutes
  readonly publicUrl?: string
  /** Where principals may send so many requests and no more. */
  readonly throttle?: RequestThrottle
}

export interface App {
  readonly handle: HttpApp
  /** Resolves when the requests that are being answered now have their answers. */
  answered(): Promise<void>
}

const nothingThere =
  'There is nothing at this path. The OSB API is under /v2, and under /<prefix>/v2 for the names in osb.prefixes.'

/** The application: the order of its checks is the order of the lines (Host, 503, 401, 429, version, route, body, then the use case). */
export function createApp(options: AppOptions): App {
  const { broker, authenticator, apb, countRefused } = options
  const { observer, clock, tracer } = broker
  const { prefixes, missingVersion } = broker.settings.osb
  const routes = createRoutes(options.presentCatalog)
  const admission = new Admission(clock)
  const sessions = createSessions(broker.store, () => authenticator.memory, broker.storeNow)
  const admin = {
    ...options,
    sessions,
    streams: new Streams(clock, options.leaving),
    changes: new OperationChanges(broker),
  }
  const checkHost = createHostCheck(options)
  const { publicUrl } = options
  const signIn =
    options.console &&
    createSignInRoutes({ authenticator, sessions, observer, publicUrl, countRefused, now: broker.storeNow })
  const openRoutes = { ...options, signIn }
  // Apart: whoever is nobody must not take the places of platforms.
  const openAdmission = new Admission(clock, openLimits)
  const exchanged = { clock, bodyLimit: options.bodyLimit, publicUrl: options.publicUrl }
  let answering = new Answering()
  const pace = createRefusalPace(clock, broker.stopping)
  const limitRequests = createRequestLimit(options.throttle, observer)

  /** Waits for nothing where the answer, or who asks, is known at once, as for the many polls of a platform. */
  function handle(exchange: Exchange): HttpResponse | Promise<HttpResponse> {
    checkHost(exchange.headers.host, exchange.path)
    const open = findOpenRoute(openRoutes, exchange)
    const wanted = toWanted(exchange, open?.bodyLimit ?? options.bodyLimit)
    const room = open === undefined ? admission : openAdmission
    // Whoever asks how the broker is gets an answer above all when it is not well.
    if (!isHealthPath(exchange.path)) exchange.visit = room.admit(wanted, exchange.startedAt)
    if (open !== undefined) return open.answer()
    const found = authenticate(exchange)
    return found instanceof Promise ? found.then(answer => serve(exchange, answer)) : serve(exchange, found)
  }

  /** Credentials say more than a cookie, which a browser sends without being asked. */
  function authenticate(exchange: Exchange): unknown {
    const { authorization, cookie } = exchange.headers
    if (cookie === undefined || authorization !== undefined || authenticator.memory === undefined)
      return authenticator.authenticate(exchange)
    const token = findSessionToken(cookie, isReachedByTls(exchange.request, publicUrl))
    if (token === undefined) return authenticator.authenticate(exchange)
    return sessions.read(token).then(session => {
      exchange.session = session
      return session?.principal ?? authenticator.authenticate(exchange)
    })
  }

  function serve(exchange: Exchange, found: unknown): HttpResponse | Promise<HttpResponse> {
    const { path } = exchange
    const principal = checkAnswer(authenticator, found)
    if (principal === undefined || isRefusal(principal)) throw unauthorized(exchange, principal)
    exchange.principal = principal
    limitRequests(principal, exchange)
    // A page of another site must not use what the browser sends along.
    if (exchange.session !== undefined) refuseCrossSite(exchange, publicUrl)
    if (isAdminPath(path)) return handleAdmin(admin, exchange, principal)
    if (path === metricsPath && options.metrics !== undefined) {
      checkRole(principal, 'viewer')
      return metricsResponse(options.metrics, exchange)
    }
    const tool = apb && parseApbPath(path)
    if (apb && tool) return handleApb({ ...admin, apb }, tool, exchange, principal)
    if (!principal.roles.includes('platform'))
      throw unauthorized(exchange, { refused: 'these credentials may not use the OSB API' })
    exchange.minor = readVersion(exchange, missingVersion)
    const target = parseOsbPath(path, prefixes)
    if (target === undefined) throw new BrokerError('NotFound', nothingThere)
    exchange.route = target.route
    const endpoint = findEndpoint(routes, target, exchange.method)
    exchange.platform = target.prefix === undefined ? principal.platform : `${principal.platform}/${target.prefix}`
    exchange.instanceId = target.instanceId
    exchange.bindingId = target.bindingId
    exchange.query = parseQuery(exchange.queryText)
    return endpoint(broker, exchange)
  }

  /** Operators are told why; clients are not. */
  function unauthorized(exchange: Exchange, refusal: Refusal | undefined): BrokerError {
    const { method, path, address, requestId, traceparent } = exchange
    const scheme = refusal && (refusal.scheme ?? authenticator.scheme)
    exchange.challenge = refusal?.challenge
    if (refusal !== undefined && refusal.unavailable !== true && isSignIn(exchange))
      countRefused({ scheme, principal: refusal.principal, address, reason: refusal.refused })
    observer['authentication.failed']?.({
      scheme,
      reason: refusal?.refused ?? 'no credentials of a kind that is accepted',
      method,
      path,
      address,
      requestId,
      traceparent,
    })
    if (refusal?.unavailable === true)
      return new BrokerError(
        'SignInUnavailable',
        'The broker cannot check these credentials now. Repeat the request.',
        {
          retryAfter: Math.max(1, Math.ceil(refusal.retryAfter ?? 5)),
        },
      )
    if (refusal?.retryAfter !== undefined)
      return new BrokerError('TooManyLogins', 'There were too many attempts to log in. Repeat the request later.', {
        retryAfter: Math.max(1, Math.ceil(refusal.retryAfter)),
      })
    return new BrokerError('Unauthorized', 'Send the credentials that were agreed for this broker.')
  }

  function refuse(error: unknown, exchange: Exchange): HttpResponse {
    const { requestId, traceparent, path } = exchange
    const isOperators = isAdminPath(path)
    const request = { minor: minorOf(exchange), observer, requestId, traceparent, isOperators }
    const { response, code } = respondToError(error, request)
    exchange.error = code
    const challenge = isConsoles(exchange)
      ? ownChallenge(authenticator)
      : (exchange.challenge ?? authenticator.challenge)
    if (response.status !== 401 || challenge === undefined) return response
    return { ...response, headers: { ...response.headers, 'www-authenticate': [challenge].flat() } }
  }

  async function answer(request: HttpRequest, exchange: Exchange): Promise<HttpResponse> {
    const served = answering
    served.begin()
    try {
      let response: HttpResponse
      try {
        const answered = handle(exchange)
        response = answered instanceof Promise ? await answered : answered
      } catch (error) {
        response = refuse(error, exchange)
        exchange.visit?.leave(clock.now())
        await pace(error)
      }
      const now = clock.now()
      exchange.visit?.leave(now)
      if (exchange.requestId !== undefined) response = withIdentity(response, request.headers)
      observer['request.ended']?.(toEnded(exchange, response, now))
      return response
    } finally {
      served.end()
    }
  }

  return {
    handle(request) {
      const exchange = new Exchange(request, exchanged)
      return tracer === undefined
        ? answer(request, exchange)
        : traceRequest(tracer, exchange, () => answer(request, exchange))
    },
    answered() {
      const before = answering
      answering = new Answering()
      return before.none()
    },
  }
}

/** The console asks for the password itself: for `Basic` its browser would do it, on every 401. It says what else there is. */
function ownChallenge({ signIn }: Authenticator): string {
  return `Session realm="purser"${signIn === undefined ? '' : `, sign-in="${encodeURIComponent(signIn.label)}"`}`
}

function isConsoles({ headers }: Exchange): boolean {
  return headers['purser-client'] === 'console'
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
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  return {
    isNew: method === 'PUT' || method === 'PATCH' || method === 'POST',
    bodyBytes: encoding === undefined ? Math.min(Number(length ?? 0), bodyLimit) : bodyLimit,
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
