import { type Deleted, deprovision } from '../../broker/deprovision.ts'
import { answers } from '../../protocol/answers.ts'
import { parseDeletion } from '../../protocol/query.ts'
import { toWire } from '../../shape/wire.ts'
import type { HttpResponse } from '../message.ts'
import { json } from '../respond.ts'
import type { Endpoint } from './endpoint.ts'

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
