import { provision } from '../../broker/provision.ts'
import { answers } from '../../protocol/answers.ts'
import { parseProvision } from '../../protocol/provision-request.ts'
import { toWire } from '../../shape/wire.ts'
import { json } from '../respond.ts'
import type { Endpoint } from './endpoint.ts'

/** PUT /v2/service_instances/:instance_id -> 200 exists, 201 created, 202 in progress */
export const provisionEndpoint: Endpoint = async (broker, request) => {
  const wanted = parseProvision(await request.body(), !broker.settings.osb.requireOrgAndSpace)
  const { caller, instanceId, minor, acceptsIncomplete } = request
  const answer = await provision(broker, caller, { instanceId, request: wanted, acceptsIncomplete })
  const { dashboardUrl, metadata } = answer.instance
  if (answer.kind !== 'accepted')
    return json(answer.kind === 'created' ? 201 : 200, toWire(answers.provision, { dashboardUrl, metadata }, minor))
  const { operation } = answer
  return json(202, toWire(answers.provision, { dashboardUrl: answer.dashboardUrl, operation, metadata }, minor))
}
