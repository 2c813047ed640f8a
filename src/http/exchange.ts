import type { AuthenticationRequest, Principal, TlsConnection } from '../authenticator.ts'
import type { BrokerEvents } from '../events.ts'
import type { Visit } from './admission.ts'
import type { HttpRequest, HttpResponse } from './message.ts'

/** One request on its way through the application, and what has been found out about it so far. */
export class Exchange implements AuthenticationRequest {
  readonly request: HttpRequest
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: HttpRequest['headers']
  /** The platform's own name for the request: it is sent back, and stands in the ledger and in every event. */
  readonly requestId: string | undefined
  /** Its place among those that are being served; health routes need none. */
  visit: Visit | undefined
  principal: Principal | undefined
  platform: string | undefined
  /** The pattern of its route. */
  route: string | undefined
  /** The operation that the request has started or repeats. */
  operationId: string | undefined
  /** Shown to operators instead of a path that holds a secret. */
  maskedPath: string | undefined
  /** What a 401 asks for, where it is not what the authenticator always asks for. */
  challenge: string | readonly string[] | undefined

  constructor(request: HttpRequest) {
    const { method, url, headers } = request
    const mark = url.indexOf('?')
    this.request = request
    this.method = method
    this.headers = headers
    this.requestId = headers[requestIdentity]
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.query = mark < 0 ? '' : url.slice(mark + 1)
  }

  get address(): string | undefined {
    return this.request.address
  }

  get tls(): TlsConnection | undefined {
    return this.request.tls
  }
}

export const requestIdentity = 'x-broker-api-request-identity'

/** What is told about a request that has been answered. */
export function toEnded(
  exchange: Exchange,
  { status, body }: HttpResponse,
  startedAt: number,
  now: number,
): BrokerEvents['request.ended'] {
  const { request, method, path, headers, route, maskedPath, address, principal, platform, requestId } = exchange
  return {
    method,
    route,
    path: maskedPath ?? path,
    status,
    bytes: sizeOf(body),
    startedAt,
    durationMs: now - startedAt,
    address,
    principal: principal?.name,
    platform: platform ?? principal?.platform,
    requestId,
    operationId: exchange.operationId,
    traceparent: headers.traceparent,
    aborted: request.aborted === true,
  }
}

export function sizeOf(body: HttpResponse['body']): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
}
