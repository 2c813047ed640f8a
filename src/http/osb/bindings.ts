import { bind } from '../../broker/bind.ts'
import { fetchBinding } from '../../broker/fetch-binding.ts'
import { unbind } from '../../broker/unbind.ts'
import { isKnown } from '../../domain/instance.ts'
import { trimBody } from '../../protocol/answers.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { parseDeletion } from '../../protocol/query.ts'
import { parseBind } from '../../protocol/requests.ts'
import { json } from '../respond.ts'
import type { Endpoint } from './endpoint.ts'
import { deletedResponse } from './instances.ts'

/** PUT …/service_bindings/:binding_id -> 200 exists, 201 created, 202 in progress (and then nothing but `operation`) */
export const bindEndpoint: Endpoint = async (broker, request) => {
  const wanted = parseBind(await request.body())
  const { caller, instanceId, bindingId, minor, acceptsIncomplete } = request
  const answer = await bind(broker, caller, { instanceId, bindingId, request: wanted, acceptsIncomplete })
  if (answer.kind === 'accepted') return json(202, { operation: answer.operation })
  return json(answer.kind === 'created' ? 201 : 200, trimBody('bind', answer.binding.result, minor))
}

/** GET …/service_bindings/:binding_id */
export const fetchBindingEndpoint: Endpoint = async (broker, request) => {
  const body = await fetchBinding(broker, request.caller, request.instanceId, request.bindingId)
  return json(200, trimBody('fetchBinding', body, request.minor))
}

/** DELETE …/service_bindings/:binding_id -> 200 gone, 202 in progress */
export const unbindEndpoint: Endpoint = async (broker, request) => {
  const { caller, instanceId, bindingId, query, minor, acceptsIncomplete } = request
  // A binding that is not there is gone, whatever else the request lacks: orphan mitigation may know no more. What another
  // platform has is not there either.
  if (query.service_id === undefined || query.plan_id === undefined) {
    const instance = await broker.store.instance(instanceId)
    const binding = isKnown(instance, caller.platform) ? await broker.store.binding(instanceId, bindingId) : undefined
    if (binding === undefined || binding.phase === 'deleted')
      throw new BrokerError('BindingGone', 'There is no binding with this id.')
  }
  const wanted = parseDeletion(query)
  const answer = await unbind(broker, caller, { instanceId, bindingId, request: wanted, acceptsIncomplete })
  return deletedResponse(answer, minor)
}
