import { type Deleted, deprovision } from '../../broker/deprovision.ts'
import { fetchInstance } from '../../broker/fetch-instance.ts'
import { provision } from '../../broker/provision.ts'
import { update } from '../../broker/update.ts'
import { answers, trimBody } from '../../protocol/answers.ts'
import { parseDeletion } from '../../protocol/query.ts'
import { parseProvision, parseUpdate } from '../../protocol/requests.ts'
import { toWire } from '../../shape/wire.ts'
import type { HttpResponse } from '../message.ts'
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

/** GET /v2/service_instances/:instance_id */
export const fetchInstanceEndpoint: Endpoint = async (broker, request) => {
  const body = await fetchInstance(broker, request.caller, request.instanceId)
  return json(200, trimBody('fetchInstance', body, request.minor))
}

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

/** DELETE /v2/service_instances/:instance_id -> 200 gone, 202 in progress */
export const deprovisionEndpoint: Endpoint = async (broker, request) => {
  const { caller, instanceId, query, minor, acceptsIncomplete } = request
  const answer = await deprovision(broker, caller, { instanceId, request: parseDeletion(query), acceptsIncomplete })
  return deletedResponse(answer, minor)
}

export function deletedResponse(answer: Deleted, minor: number): HttpResponse {
  if (answer.kind === 'deleted') return json(200, {})
  return json(202, toWire(answers.update, { operation: answer.operation }, minor))
}
