import type { AuthenticationRequest, Principal, TlsConnection } from '../authenticator.ts'
import type { BrokerEvents } from '../events.ts'
import type { HttpRequest, HttpResponse } from './message.ts'

/** One request on its way through the application, and what has been found out about it so far. */
export class Exchange implements AuthenticationRequest {
  readonly request: HttpRequest
  readonly path: string
  readonly query: string
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
    const { url } = request
    const mark = url.indexOf('?')
    this.request = request
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.query = mark < 0 ? '' : url.slice(mark + 1)
  }

  get method(): string {
    return this.request.method
  }

  get headers(): HttpRequest['headers'] {
    return this.request.headers
  }

  get address(): string | undefined {
    return this.request.address
  }

  get tls(): TlsConnection | undefined {
    return this.request.tls
  }

  /** The platform's own name for the request: it is sent back, and stands in the ledger and in every event. */
  get requestId(): string | undefined {
    return this.request.headers[requestIdentity]
  }

  get traceparent(): string | undefined {
    return this.request.headers.traceparent
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
  const { method, path, route, maskedPath, address, principal, platform, requestId, traceparent, request } = exchange
  const { operationId } = exchange
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
    operationId,
    traceparent,
    aborted: request.aborted === true,
  }
}

export function sizeOf(body: HttpResponse['body']): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
}
