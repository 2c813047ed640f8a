import { type Clock, systemClock } from '../clock.ts'
import { isJsonObject, parseJson } from '../protocol/json.ts'
import { toConnectionError, toTimeoutError } from './connection-error.ts'
import type { LastOperationQuery } from './messages.ts'
import {
  authorization,
  encodeIdentity,
  type HeaderOverrides,
  mergeHeaders,
  type OriginatingIdentity,
  parseBrokerUrl,
  type Query,
  toQuery,
} from './request.ts'

export interface OsbClientOptions {
  /** With its prefix path, if the broker has one; credentials in it are used and never shown. */
  readonly url: string
  readonly username?: string
  readonly password?: string
  /** Sent as a bearer token instead of a user name and a password. */
  readonly token?: string
  readonly apiVersion?: string
  readonly originatingIdentity?: OriginatingIdentity
  /** One value, or a function that makes one for each request (RID-04). */
  readonly requestIdentity?: string | (() => string)
  readonly fetch?: typeof fetch
  /** Milliseconds until a request without an answer is given up; 60 seconds, as platforms do. */
  readonly timeout?: number
  readonly clock?: Clock
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Laid over the client's own headers and query; `undefined` takes one away. For tests of brokers. */
  readonly headers?: HeaderOverrides
  readonly query?: Query
}

export interface AsyncCallOptions extends CallOptions {
  /** Sends `accepts_incomplete=true`: the broker may answer 202 and go on working. */
  readonly acceptsIncomplete?: boolean
}

/** Any HTTP answer. `body` is `{}` where the answer is not a JSON object; `text` is what came. */
export interface OsbResponse<Body> {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
  readonly text: string
}

/** Sends requests to one broker as one client. A refusal is an answer; the lack of one throws OsbConnectionError. */
export function createSender(options: OsbClientOptions) {
  const { apiVersion = '2.17', originatingIdentity, requestIdentity, timeout = 60_000, clock = systemClock } = options
  const doFetch = options.fetch ?? fetch
  const { url, credentials } = parseBrokerUrl(options.url)
  const given = options.username !== undefined || options.token !== undefined
  const own = {
    accept: 'application/json',
    'x-broker-api-version': apiVersion,
    authorization: authorization(given ? options : credentials),
    'x-broker-api-originating-identity': originatingIdentity && encodeIdentity(originatingIdentity),
  }

  async function send<Body>(
    method: string,
    path: string,
    call: AsyncCallOptions = {},
    { query, body }: { readonly query?: LastOperationQuery; readonly body?: object } = {},
  ): Promise<OsbResponse<Body>> {
    const target = `${url}${path}`
    const accepts_incomplete = call.acceptsIncomplete === true ? 'true' : undefined
    const ofRequest = {
      'x-broker-api-request-identity': typeof requestIdentity === 'function' ? requestIdentity() : requestIdentity,
      'content-type': body && 'application/json',
    }
    const controller = new AbortController()
    const abort = () => controller.abort(call.signal?.reason)
    if (call.signal?.aborted) abort()
    call.signal?.addEventListener('abort', abort, { once: true })
    const cancel = clock.after(timeout, () => controller.abort(toTimeoutError(`${method} ${target}`, timeout)))
    try {
      const response = await doFetch(`${target}${toQuery({ ...query, accepts_incomplete, ...call.query })}`, {
        method,
        headers: mergeHeaders(own, ofRequest, call.headers ?? {}),
        signal: controller.signal,
        body: JSON.stringify(body),
      })
      const { status, headers } = response
      const text = await response.text()
      return { status, headers: Object.fromEntries(headers), body: parseBody<Body>(text), text }
    } catch (error) {
      if (controller.signal.aborted) throw controller.signal.reason
      throw toConnectionError(`${method} ${target}`, new URL(url).origin, error)
    } finally {
      cancel()
      call.signal?.removeEventListener('abort', abort)
    }
  }

  /** The body piece by piece, whatever time it takes; a refusal is read as `send` reads it. */
  async function open<Body>(path: string, query: Query = {}): Promise<Opened | OsbResponse<Body>> {
    const target = `${url}${path}`
    try {
      const response = await doFetch(`${target}${toQuery(query)}`, { headers: mergeHeaders(own, {}, {}) })
      const { status, body } = response
      if (status === 200 && body !== null) return { status, pieces: body }
      const text = await response.text()
      return { status, headers: Object.fromEntries(response.headers), body: parseBody<Body>(text), text }
    } catch (error) {
      throw toConnectionError(`GET ${target}`, new URL(url).origin, error)
    }
  }

  return { url, send, open }
}

/** An answer that is being read. */
export interface Opened {
  readonly status: number
  readonly pieces: AsyncIterable<Uint8Array>
}

function parseBody<Body>(text: string): Body {
  const value = parseJson(text)
  return (isJsonObject(value) ? value : {}) as Body
}
