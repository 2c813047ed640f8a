import { fetchInstance } from '../../broker/fetch-instance.ts'
import { trimBody } from '../../protocol/answers.ts'
import { checkHints } from '../../protocol/query.ts'
import { json } from '../respond.ts'
import type { Endpoint } from './endpoint.ts'

/** GET /v2/service_instances/:instance_id */
export const fetchInstanceEndpoint: Endpoint = async (broker, request) => {
  checkHints(request.query)
  const body = await fetchInstance(broker, request.caller, request.instanceId)
  return json(200, trimBody('fetchInstance', body, request.minor))
}
