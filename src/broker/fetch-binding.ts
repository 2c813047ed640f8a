import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import { type BrokerContext, type Caller, toInstanceInfo } from './context.ts'
import { findFetched } from './fetch-instance.ts'

/** GET /v2/service_instances/:instance_id/service_bindings/:binding_id */
export async function fetchBinding(
  broker: BrokerContext,
  caller: Caller,
  instanceId: string,
  bindingId: string,
): Promise<JsonObject> {
  const instance = await broker.store.instance(instanceId)
  const service = findFetched(broker, caller, instance)
  const binding = await broker.store.binding(instanceId, bindingId)
  if (
    instance === undefined ||
    instance.platform !== caller.platform ||
    service?.offering.bindingsRetrievable !== true ||
    binding?.phase !== 'ready'
  )
    throw new BrokerError('BindingNotFound', 'There is no binding with this id, or it is not there yet.')
  const body: JsonObject = { ...binding.result, parameters: binding.parameters }
  const { code } = service
  if (code.fetchBinding === undefined) return body
  const { state } = instance
  const fetched = { instance: toInstanceInfo(instance), state, bindingId, bindingState: binding.state, body }
  return code.fetchBinding(structuredClone(fetched))
}
