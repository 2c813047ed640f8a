import type { AuthenticationRequest, Principal, TlsConnection } from '../authenticator.ts'
import type { Caller } from '../broker/context.ts'
import type { Clock } from '../clock.ts'
import type { BrokerEvents } from '../events.ts'
import { parseOriginatingIdentity } from '../protocol/identity.ts'
import type { JsonObject } from '../protocol/json.ts'
import { acceptsIncomplete, noQuery, type Query } from '../protocol/query.ts'
import { type OpenSpan, readTraceparent } from '../tracer.ts'
import type { Visit } from './admission.ts'
import { type HttpRequest, type HttpResponse, originOf, sizeOf } from './message.ts'
import type { OsbRequest } from './osb/endpoint.ts'
import { readJsonObject } from './read-body.ts'
import type { Session } from './sessions.ts'

export interface ExchangeOptions {
  readonly clock: Clock
  /** Of bodies, in bytes. */
  readonly bodyLimit: number
  /** Where platforms and browsers reach this broker; made from the Host header where it is not set. */
  readonly publicUrl?: string
}

/**
 * One request on its way through the application, and what has been found out about it so far. It is one object for all who
 * ask for parts of it: what is made for each request is paid for by each poll.
 */
export class Exchange implements AuthenticationRequest, OsbRequest, Caller {
  readonly request: HttpRequest
  readonly method: string
  readonly path: string
  readonly queryText: string
  readonly headers: HttpRequest['headers']
  /** The platform's own name for the request: it is sent back, and stands in the ledger and in every event. */
  readonly requestId: string | undefined
  readonly startedAt: number
  readonly #options: ExchangeOptions
  /** Its place among those that are being served; health routes need none. */
  visit: Visit | undefined
  principal: Principal | undefined
  /** Where it is the cookie of the console that says who sends it. */
  session: Session | undefined
  /** Empty until it is known. */
  platform = ''
  /** The pattern of its route. */
  route: string | undefined
  /** The operation that the request has started or repeats. */
  operationId: string | undefined
  /** Where traces are on. */
  span: OpenSpan | undefined
  /** The code of the error that it is answered with. */
  error: string | undefined
  /** Shown to operators instead of a path that holds a secret. */
  maskedPath: string | undefined
  /** What a 401 asks for, where it is not what the authenticator always asks for. */
  challenge: string | readonly string[] | undefined
  minor = 0
  instanceId = ''
  bindingId = ''
  query: Query = noQuery

  constructor(request: HttpRequest, options: ExchangeOptions) {
    const { method, url, headers } = request
    const mark = url.indexOf('?')
    this.request = request
    this.#options = options
    this.startedAt = options.clock.now()
    this.method = method
    this.headers = headers
    this.requestId = headers[requestIdentity]
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.queryText = mark < 0 ? '' : url.slice(mark + 1)
  }

  get address(): string | undefined {
    return this.request.address
  }

  get tls(): TlsConnection | undefined {
    return this.request.tls
  }

  get connection(): object | undefined {
    return this.request.connection
  }

  get caller(): Caller {
    return this
  }

  get identity(): JsonObject | undefined {
    return parseOriginatingIdentity(this.headers['x-broker-api-originating-identity'])
  }

  /** That of the request's own span, where there is one. */
  get traceparent(): string | undefined {
    return this.span?.traceparent ?? readTraceparent(this.headers.traceparent)
  }

  get acceptsIncomplete(): boolean {
    return acceptsIncomplete(this.query)
  }

  get ifNoneMatch(): string | undefined {
    return this.headers['if-none-match']
  }

  onOperation(id: string): void {
    this.operationId = id
    this.visit?.leave(this.#options.clock.now())
  }

  baseUrl(): string {
    return this.#options.publicUrl ?? originOf(this.request) + (this.request.mount ?? '')
  }

  async body(): Promise<JsonObject> {
    const { clock, bodyLimit } = this.#options
    const since = clock.now()
    const body = await readJsonObject(this.request, bodyLimit)
    this.visit?.waited(clock.now() - since)
    return body
  }
}

export const requestIdentity = 'x-broker-api-request-identity'

/** What is told about a request that has been answered. */
export function toEnded(exchange: Exchange, response: HttpResponse, now: number): BrokerEvents['request.ended'] {
  const { request, method, path, startedAt, route, maskedPath, principal, platform, requestId, operationId } = exchange
  return {
    method,
    route,
    path: maskedPath ?? path,
    status: response.status,
    bytes: sizeOf(response),
    startedAt,
    durationMs: now - startedAt,
    address: request.address,
    principal: principal?.name,
    platform: platform || principal?.platform,
    requestId,
    operationId,
    traceparent: exchange.traceparent,
    aborted: request.aborted === true,
    error: exchange.error,
  }
}
