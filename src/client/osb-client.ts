import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'
import { isJsonObject } from '../protocol/json.ts'
import { toConnectionError, toTimeoutError } from './connection-error.ts'
import type { HeaderOverrides, OriginatingIdentity, Query } from './request.ts'
import { authorization, encodeIdentity, mergeHeaders, parseBrokerUrl, toPath, toQuery } from './request.ts'
import type {
  BindAnswer,
  BindRequest,
  DeleteAnswer,
  DeleteQuery,
  FetchedBinding,
  FetchedInstance,
  FetchQuery,
  InstanceAnswer,
  LastOperation,
  LastOperationQuery,
  ProvisionRequest,
  UpdateRequest,
  WireCatalog,
} from './wire.ts'

export interface OsbClientOptions {
  /** With its prefix path, if the broker has one; credentials in it are used and never shown. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Sent as a bearer token instead of a user name and a password. */
  readonly token?: string | undefined
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

/** Any HTTP answer. `body` is `{}` where the answer is no JSON object; `text` is what came. */
export interface OsbResponse<Body> {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
  readonly text: string
}

type Answer<Body> = Promise<OsbResponse<Body>>

/** The OSB API as a platform calls it. A refusal is an answer; only the lack of one throws OsbConnectionError. */
export interface OsbClient {
  /** Without credentials. */
  readonly url: string
  /** GET /v2/catalog */
  catalog(options?: CallOptions): Answer<WireCatalog>
  /** PUT /v2/service_instances/:instance_id */
  provision(instanceId: string, request: ProvisionRequest, options?: AsyncCallOptions): Answer<InstanceAnswer>
  /** GET /v2/service_instances/:instance_id */
  fetchInstance(instanceId: string, query?: FetchQuery, options?: CallOptions): Answer<FetchedInstance>
  /** PATCH /v2/service_instances/:instance_id */
  update(instanceId: string, request: UpdateRequest, options?: AsyncCallOptions): Answer<InstanceAnswer>
  /** DELETE /v2/service_instances/:instance_id */
  deprovision(instanceId: string, query: DeleteQuery, options?: AsyncCallOptions): Answer<DeleteAnswer>
  /** GET /v2/service_instances/:instance_id/last_operation */
  lastOperation(instanceId: string, query?: LastOperationQuery, options?: CallOptions): Answer<LastOperation>
  /** PUT /v2/service_instances/:instance_id/service_bindings/:binding_id */
  bind(instanceId: string, bindingId: string, request: BindRequest, options?: AsyncCallOptions): Answer<BindAnswer>
  /** GET /v2/service_instances/:instance_id/service_bindings/:binding_id */
  fetchBinding(instanceId: string, bindingId: string, query?: FetchQuery, options?: CallOptions): Answer<FetchedBinding>
  /** DELETE /v2/service_instances/:instance_id/service_bindings/:binding_id */
  unbind(instanceId: string, bindingId: string, query: DeleteQuery, options?: AsyncCallOptions): Answer<DeleteAnswer>
  /** GET /v2/service_instances/:instance_id/service_bindings/:binding_id/last_operation */
  lastBindingOperation(
    instanceId: string,
    bindingId: string,
    query?: LastOperationQuery,
    options?: CallOptions,
  ): Answer<LastOperation>
}

export function createOsbClient(options: OsbClientOptions): OsbClient {
  const { url, send } = createSender(options)
  const instance = (id: string) => toPath('v2', 'service_instances', id)
  const binding = (id: string, bindingId: string) =>
    toPath('v2', 'service_instances', id, 'service_bindings', bindingId)

  return {
    url,
    catalog: call => send('GET', toPath('v2', 'catalog'), {}, call),
    provision: (id, request, call) => send('PUT', instance(id), asyncQuery(call), call, request),
    fetchInstance: (id, query, call) => send('GET', instance(id), { ...query }, call),
    update: (id, request, call) => send('PATCH', instance(id), asyncQuery(call), call, request),
    deprovision: (id, query, call) => send('DELETE', instance(id), { ...query, ...asyncQuery(call) }, call),
    lastOperation: (id, query, call) => send('GET', `${instance(id)}/last_operation`, { ...query }, call),
    bind: (id, bindingId, request, call) => send('PUT', binding(id, bindingId), asyncQuery(call), call, request),
    fetchBinding: (id, bindingId, query, call) => send('GET', binding(id, bindingId), { ...query }, call),
    unbind: (id, bindingId, query, call) =>
      send('DELETE', binding(id, bindingId), { ...query, ...asyncQuery(call) }, call),
    lastBindingOperation: (id, bindingId, query, call) =>
      send('GET', `${binding(id, bindingId)}/last_operation`, { ...query }, call),
  }
}

function asyncQuery(call: AsyncCallOptions | undefined): Query {
  return call?.acceptsIncomplete === true ? { accepts_incomplete: 'true' } : {}
}

function createSender(options: OsbClientOptions) {
  const { apiVersion = '2.17', originatingIdentity, requestIdentity, timeout = 60_000, clock = systemClock } = options
  const doFetch = options.fetch ?? fetch
  const { url, credentials } = parseBrokerUrl(options.url)
  const given = options.username !== undefined || options.token !== undefined
  const own = {
    accept: 'application/json',
    'x-broker-api-version': apiVersion,
    authorization: authorization(given ? options : credentials),
    'x-broker-api-originating-identity':
      originatingIdentity === undefined ? undefined : encodeIdentity(originatingIdentity),
  }

  async function send<Body>(method: string, path: string, query: Query, call: CallOptions = {}, request?: object) {
    const target = `${url}${path}`
    const controller = new AbortController()
    const abort = () => controller.abort(call.signal?.reason)
    if (call.signal?.aborted) abort()
    call.signal?.addEventListener('abort', abort, { once: true })
    const cancel = clock.after(timeout, () => controller.abort(toTimeoutError(`${method} ${target}`, timeout)))
    try {
      const response = await doFetch(`${target}${toQuery({ ...query, ...call.query })}`, {
        method,
        headers: mergeHeaders(
          own,
          {
            'x-broker-api-request-identity':
              typeof requestIdentity === 'function' ? requestIdentity() : requestIdentity,
          },
          request === undefined ? {} : { 'content-type': 'application/json' },
          call.headers ?? {},
        ),
        signal: controller.signal,
        ...(request === undefined ? {} : { body: JSON.stringify(request) }),
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: parseBody<Body>(text),
        text,
      }
    } catch (error) {
      if (controller.signal.aborted) throw controller.signal.reason
      throw toConnectionError(`${method} ${target}`, new URL(url).origin, error)
    } finally {
      cancel()
      call.signal?.removeEventListener('abort', abort)
    }
  }

  return { url, send }
}

function parseBody<Body>(text: string): Body {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = {}
  }
  return (isJsonObject(value) ? value : {}) as Body
}
