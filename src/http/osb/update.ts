import { update } from '../../broker/update.ts'
import { answers } from '../../protocol/answers.ts'
import { parseUpdate } from '../../protocol/update-request.ts'
import { toWire } from '../../shape/wire.ts'
import { json } from '../respond.ts'
import type { Endpoint } from './endpoint.ts'

/** PATCH /v2/service_instances/:instance_id -> 200 applied or nothing to do, 202 in progress */
export const updateEndpoint: Endpoint = async (broker, request) => {
  const wanted = parseUpdate(await request.body())
  const { caller, instanceId, minor, acceptsIncomplete } = request
  const answer = await update(broker, caller, { instanceId, request: wanted, acceptsIncomplete })
  if (answer.kind !== 'accepted') {
    const { dashboardUrl, metadata } = answer.instance
    return json(200, toWire(answers.update, { dashboardUrl, metadata }, minor))
  }
  const { operation, dashboardUrl } = answer
  return json(202, toWire(answers.update, { dashboardUrl, operation }, minor))
}
