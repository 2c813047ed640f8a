import { sweepInstance } from '../../broker/verbs/sweep.ts'
import { text } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { accepted, actingOf } from './operation-verbs.ts'
import { readFields, reason } from './read-fields.ts'

export const sweepBody = object({ bindingId: optional(text()), reason })

/** POST /admin/instances/:id/sweep -> 202 with the sweep: what is deleted is deleted once more. */
export const sweepInstanceEndpoint: AdminEndpoint = async ({ broker }, request) => {
  const { bindingId, reason: why } = readFields(sweepBody, await request.body())
  return accepted(await sweepInstance(broker, actingOf(request, why), { instanceId: request.id, bindingId }))
}
