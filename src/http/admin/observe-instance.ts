import { observeInstance } from '../../broker/verbs/observe.ts'
import { object, optional } from '../../shape/shape.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { accepted, actingOf } from './operation-verbs.ts'
import { readFields, reason } from './read-fields.ts'

export const observeBody = object({ reason: optional(reason) })

/** POST /admin/instances/:id/observe -> 202 with the observation. */
export const observeInstanceEndpoint: AdminEndpoint = async ({ broker }, request) => {
  const { reason: why } = readFields(observeBody, await request.body())
  return accepted(await observeInstance(broker, actingOf(request, why), request.id))
}
