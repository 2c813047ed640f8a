import { update } from '../../broker/update.ts'
import { trimBody } from '../../protocol/answers.ts'
import { acceptsIncomplete } from '../../protocol/query.ts'
import { parseUpdate } from '../../protocol/update-request.ts'
import { json } from '../respond.ts'
import type { Endpoint } from './endpoint.ts'
import { instanceBody } from './provision.ts'

/** PATCH /v2/service_instances/:instance_id -> 200 applied or nothing to do, 202 in progress */
export const updateEndpoint: Endpoint = async (broker, request) => {
  const wanted = parseUpdate(await request.body())
  const { caller, instanceId, minor } = request
  const answer = await update(broker, caller, {
    instanceId,
    request: wanted,
    acceptsIncomplete: acceptsIncomplete(request.query),
  })
  if (answer.kind !== 'accepted') return json(200, trimBody('update', instanceBody(answer.instance), minor))
  const { operation, dashboardUrl } = answer
  return json(202, trimBody('update', { dashboard_url: dashboardUrl, operation }, minor))
}
