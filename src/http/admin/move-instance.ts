import { moveInstance } from '../../broker/verbs/move.ts'
import { text } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { readFields, reason } from './read-fields.ts'

const body = object({ revision: optional(text()), reason })

/** POST /admin/instances/:id/move: another revision of its service acts on the instance from now on. */
export const moveInstanceEndpoint: AdminEndpoint = async ({ broker }, request) => {
  const { revision: revisionId, reason: why } = readFields(body, await request.body())
  const { id: instanceId, acting } = request
  const { instance, from } = await moveInstance(broker, { ...acting, reason: why }, { instanceId, revisionId })
  const { id, serviceId, planId, revisionId: revision } = instance
  return json(200, { instance_id: id, service_id: serviceId, plan_id: planId, revision, moved_from: from })
}
