import { provision } from '../../broker/provision.ts'
import type { Instance } from '../../domain/instance.ts'
import { trimBody } from '../../protocol/answers.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { parseProvision } from '../../protocol/provision-request.ts'
import { acceptsIncomplete } from '../../protocol/query.ts'
import { json } from '../respond.ts'
import type { Endpoint } from './endpoint.ts'

/** PUT /v2/service_instances/:instance_id -> 200 exists, 201 created, 202 in progress */
export const provisionEndpoint: Endpoint = async (broker, request) => {
  const wanted = parseProvision(await request.body(), !broker.settings.osb.requireOrgAndSpace)
  const { caller, instanceId, minor } = request
  const answer = await provision(broker, caller, {
    instanceId,
    request: wanted,
    acceptsIncomplete: acceptsIncomplete(request.query),
  })
  if (answer.kind === 'accepted') {
    const { operation, dashboardUrl, instance } = answer
    const body = {
      ...instanceBody(instance),
      dashboard_url: dashboardUrl,
      operation,
    }
    return json(202, trimBody('provision', body, minor))
  }
  return json(answer.kind === 'created' ? 201 : 200, trimBody('provision', instanceBody(answer.instance), minor))
}

export function instanceBody({ dashboardUrl, metadata }: Instance): JsonObject {
  return {
    dashboard_url: dashboardUrl,
    metadata: metadata && { ...metadata },
  }
}
