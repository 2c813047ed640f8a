import { unbind } from '../../broker/unbind.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { parseDeletion } from '../../protocol/query.ts'
import { deletedResponse } from './deprovision.ts'
import type { Endpoint } from './endpoint.ts'

/** DELETE …/service_bindings/:binding_id -> 200 gone, 202 in progress */
export const unbindEndpoint: Endpoint = async (broker, request) => {
  const { caller, instanceId, bindingId, query, minor, acceptsIncomplete } = request
  // A binding that is not there is gone, whatever else the request lacks: orphan mitigation may know no more.
  if (!query.has('service_id') || !query.has('plan_id')) {
    const binding = await broker.store.binding(instanceId, bindingId)
    if (binding === undefined || binding.phase === 'deleted')
      throw new BrokerError('BindingGone', 'There is no binding with this id.')
  }
  const answer = await unbind(broker, caller, {
    instanceId,
    bindingId,
    request: parseDeletion(query),
    acceptsIncomplete,
  })
  return deletedResponse(answer, minor)
}
