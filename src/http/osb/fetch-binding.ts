import { fetchBinding } from '../../broker/fetch-binding.ts'
import { trimBody } from '../../protocol/answers.ts'
import { checkHints } from '../../protocol/query.ts'
import { json } from '../respond.ts'
import type { Endpoint } from './endpoint.ts'

/** GET …/service_bindings/:binding_id */
export const fetchBindingEndpoint: Endpoint = async (broker, request) => {
  checkHints(request.query)
  const body = await fetchBinding(broker, request.caller, request.instanceId, request.bindingId)
  return json(200, trimBody('fetchBinding', body, request.minor))
}
