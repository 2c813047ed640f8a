import type * as osb from './messages.ts'
import { toPath } from './request.ts'
import { type AsyncCallOptions, type CallOptions, createSender, type OsbClientOptions } from './sender.ts'

export type OsbClient = ReturnType<typeof createOsbClient>

/** The OSB API as a platform calls it. A refusal is an answer; only the lack of one throws OsbConnectionError. */
export function createOsbClient(options: OsbClientOptions) {
  const { url, send } = createSender(options)
  const instance = (id: string) => toPath('v2', 'service_instances', id)
  const binding = (id: string, bindingId: string) => `${instance(id)}${toPath('service_bindings', bindingId)}`

  return {
    /** Without credentials. */
    url,
    catalog: (call?: CallOptions) => send<osb.WireCatalog>('GET', '/v2/catalog', call),
    provision: (instanceId: string, body: osb.ProvisionRequest, call?: AsyncCallOptions) =>
      send<osb.InstanceAnswer>('PUT', instance(instanceId), call, { body }),
    fetchInstance: (instanceId: string, query?: osb.FetchQuery, call?: CallOptions) =>
      send<osb.FetchedInstance>('GET', instance(instanceId), call, { query }),
    update: (instanceId: string, body: osb.UpdateRequest, call?: AsyncCallOptions) =>
      send<osb.InstanceAnswer>('PATCH', instance(instanceId), call, { body }),
    deprovision: (instanceId: string, query: osb.DeleteQuery, call?: AsyncCallOptions) =>
      send<osb.DeleteAnswer>('DELETE', instance(instanceId), call, { query }),
    lastOperation: (instanceId: string, query?: osb.LastOperationQuery, call?: CallOptions) =>
      send<osb.LastOperation>('GET', `${instance(instanceId)}/last_operation`, call, { query }),
    bind: (instanceId: string, bindingId: string, body: osb.BindRequest, call?: AsyncCallOptions) =>
      send<osb.BindAnswer>('PUT', binding(instanceId, bindingId), call, { body }),
    fetchBinding: (instanceId: string, bindingId: string, query?: osb.FetchQuery, call?: CallOptions) =>
      send<osb.FetchedBinding>('GET', binding(instanceId, bindingId), call, { query }),
    unbind: (instanceId: string, bindingId: string, query: osb.DeleteQuery, call?: AsyncCallOptions) =>
      send<osb.DeleteAnswer>('DELETE', binding(instanceId, bindingId), call, { query }),
    lastBindingOperation: (instanceId: string, bindingId: string, query?: osb.LastOperationQuery, call?: CallOptions) =>
      send<osb.LastOperation>('GET', `${binding(instanceId, bindingId)}/last_operation`, call, { query }),
  }
}
