import { abandonInstance } from '../../broker/verbs/abandon.ts'
import { remainsOf } from '../../broker/verbs/remains.ts'
import { flag } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { toTime } from './chores.ts'
import { readFields, reason } from './read-fields.ts'

const body = object({ bindings: optional(flag()), reason })

/** POST /admin/instances/:id/abandon: counts as deleted from now on. Answers what nobody has removed. */
export const abandonInstanceEndpoint: AdminEndpoint = async ({ broker }, request) => {
  const { bindings = false, reason: why } = readFields(body, await request.body())
  const { id: instanceId, acting } = request
  const abandoned = await abandonInstance(broker, { ...acting, reason: why }, { instanceId, bindings })
  const { before, after, ended } = abandoned.instance
  const { stateKeys, sandboxes, revisionId, dashboardUrl, bindings: left, quietUntil } = remainsOf(abandoned)
  return json(200, {
    instance_id: instanceId,
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
  })
}
