import { type MovedInstance, moveInstance } from '../../broker/verbs/move.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { text } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { readFields, reason } from './read-fields.ts'

export const moveBody = object({ revision: optional(text()), reason })

/** POST /admin/instances/:id/move: another revision of its service acts on the instance from now on. */
export const moveInstanceEndpoint: AdminEndpoint = async ({ broker }, request) => {
  const { revision: revisionId, reason: why } = readFields(moveBody, await request.body())
  const { id: instanceId, acting, once } = request
  const remember = once && ((moved: unknown) => once.note(200, bodyOf(moved as MovedInstance)))
  const moved = await moveInstance(broker, { ...acting, reason: why, remember }, { instanceId, revisionId })
  return json(200, bodyOf(moved))
}

function bodyOf({ instance, from }: MovedInstance): JsonObject {
  const { id, serviceId, planId, revisionId: revision } = instance
  return { instance_id: id, service_id: serviceId, plan_id: planId, revision, moved_from: from }
}
