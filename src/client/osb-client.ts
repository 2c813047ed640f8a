import type * as osb from './messages.ts'
import { toPath } from './request.ts'
import {
  type AsyncCallOptions,
  type CallOptions,
  createSender,
  type OsbClientOptions,
  type OsbResponse,
} from './sender.ts'

type Answer<Body> = Promise<OsbResponse<Body>>

/** The OSB API as a platform calls it. A refusal is an answer; only the lack of one throws OsbConnectionError. */
export interface OsbClient {
  /** Without credentials. */
  readonly url: string
  /** GET /v2/catalog */
  catalog(options?: CallOptions): Answer<osb.WireCatalog>
  /** PUT /v2/service_instances/:instance_id */
  provision(instanceId: string, request: osb.ProvisionRequest, options?: AsyncCallOptions): Answer<osb.InstanceAnswer>
  /** GET /v2/service_instances/:instance_id */
  fetchInstance(instanceId: string, query?: osb.FetchQuery, options?: CallOptions): Answer<osb.FetchedInstance>
  /** PATCH /v2/service_instances/:instance_id */
  update(instanceId: string, request: osb.UpdateRequest, options?: AsyncCallOptions): Answer<osb.InstanceAnswer>
  /** DELETE /v2/service_instances/:instance_id */
  deprovision(instanceId: string, query: osb.DeleteQuery, options?: AsyncCallOptions): Answer<osb.DeleteAnswer>
  /** GET /v2/service_instances/:instance_id/last_operation */
  lastOperation(instanceId: string, query?: osb.LastOperationQuery, options?: CallOptions): Answer<osb.LastOperation>
  /** PUT /v2/service_instances/:instance_id/service_bindings/:binding_id */
  bind(
    instanceId: string,
    bindingId: string,
    request: osb.BindRequest,
    options?: AsyncCallOptions,
  ): Answer<osb.BindAnswer>
  /** GET /v2/service_instances/:instance_id/service_bindings/:binding_id */
  fetchBinding(
    instanceId: string,
    bindingId: string,
    query?: osb.FetchQuery,
    options?: CallOptions,
  ): Answer<osb.FetchedBinding>
  /** DELETE /v2/service_instances/:instance_id/service_bindings/:binding_id */
  unbind(
    instanceId: string,
    bindingId: string,
    query: osb.DeleteQuery,
    options?: AsyncCallOptions,
  ): Answer<osb.DeleteAnswer>
  /** GET /v2/service_instances/:instance_id/service_bindings/:binding_id/last_operation */
  lastBindingOperation(
    instanceId: string,
    bindingId: string,
    query?: osb.LastOperationQuery,
    options?: CallOptions,
  ): Answer<osb.LastOperation>
}

export function createOsbClient(options: OsbClientOptions): OsbClient {
  const { url, send } = createSender(options)
  const instance = (id: string) => toPath('v2', 'service_instances', id)
  const binding = (id: string, bindingId: string) => `${instance(id)}${toPath('service_bindings', bindingId)}`

  return {
    url,
    catalog: call => send('GET', '/v2/catalog', call),
    provision: (id, body, call) => send('PUT', instance(id), call, { body }),
    fetchInstance: (id, query, call) => send('GET', instance(id), call, { query }),
    update: (id, body, call) => send('PATCH', instance(id), call, { body }),
    deprovision: (id, query, call) => send('DELETE', instance(id), call, { query }),
    lastOperation: (id, query, call) => send('GET', `${instance(id)}/last_operation`, call, { query }),
    bind: (id, bindingId, body, call) => send('PUT', binding(id, bindingId), call, { body }),
    fetchBinding: (id, bindingId, query, call) => send('GET', binding(id, bindingId), call, { query }),
    unbind: (id, bindingId, query, call) => send('DELETE', binding(id, bindingId), call, { query }),
    lastBindingOperation: (id, bindingId, query, call) =>
      send('GET', `${binding(id, bindingId)}/last_operation`, call, { query }),
  }
}
