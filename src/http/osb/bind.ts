import { bind } from '../../broker/bind.ts'
import { trimBody } from '../../protocol/answers.ts'
import { parseBind } from '../../protocol/bind-request.ts'
import { json } from '../respond.ts'
import type { Endpoint } from './endpoint.ts'

/** PUT …/service_bindings/:binding_id -> 200 exists, 201 created, 202 in progress (and then nothing but `operation`) */
export const bindEndpoint: Endpoint = async (broker, request) => {
  const wanted = parseBind(await request.body())
  const { caller, instanceId, bindingId, minor, acceptsIncomplete } = request
  const answer = await bind(broker, caller, { instanceId, bindingId, request: wanted, acceptsIncomplete })
  if (answer.kind === 'accepted') return json(202, { operation: answer.operation })
  return json(answer.kind === 'created' ? 201 : 200, trimBody('bind', answer.binding.result, minor))
}
