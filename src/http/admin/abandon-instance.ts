import { type AbandonedInstance, abandonInstance } from '../../broker/verbs/abandon.ts'
import { remainsOf } from '../../broker/verbs/remains.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { flag } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { toTime } from './chores.ts'
import { readFields, reason } from './read-fields.ts'

export const abandonBody = object({ bindings: optional(flag()), reason })

/** POST /admin/instances/:id/abandon: counts as deleted from now on. Answers what nobody has removed. */
export const abandonInstanceEndpoint: AdminEndpoint = async ({ broker }, request) => {
  const { bindings = false, reason: why } = readFields(abandonBody, await request.body())
  const { id: instanceId, acting, once } = request
  const remember = once && ((abandoned: unknown) => once.note(200, bodyOf(abandoned as AbandonedInstance)))
  return json(
    200,
    bodyOf(await abandonInstance(broker, { ...acting, reason: why, remember }, { instanceId, bindings })),
  )
}

function bodyOf(abandoned: AbandonedInstance): JsonObject {
  const { before, after, ended } = abandoned.instance
  const { stateKeys, sandboxes, revisionId, dashboardUrl, bindings: left, quietUntil } = remainsOf(abandoned)
  return {
    instance_id: before.id,
    service_id: before.serviceId,
    plan_id: before.planId,
    phase: after.phase,
    operation: after.lastOperationId,
    ended: ended && { operation: ended.id, action: ended.action, state: ended.state },
    remains: {
      revision: revisionId,
      dashboard_url: dashboardUrl,
      state_keys: stateKeys,
      sandboxes,
      bindings: left.map(({ id, stateKeys: keys, sandboxes: own }) => ({ id, state_keys: keys, sandboxes: own })),
      quiet_until: toTime(quietUntil),
    },
  }
}
