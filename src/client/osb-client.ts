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
} from './messages.ts'
import type { Query } from './request.ts'
import { toPath } from './request.ts'
import { type CallOptions, createSender, type OsbClientOptions, type OsbResponse } from './sender.ts'

export interface AsyncCallOptions extends CallOptions {
  /** Sends `accepts_incomplete=true`: the broker may answer 202 and go on working. */
  readonly acceptsIncomplete?: boolean
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
