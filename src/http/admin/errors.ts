import { groupFailures } from '../../broker/group-failures.ts'
import { actions } from '../../protocol/actions.ts'
import { oneOf, text, wholeNumber } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { readQuery, time, toMs } from './lists.ts'
import { toBody } from './to-body.ts'

export const errorsQuery = object({
  serviceId: optional(text()),
  action: optional(oneOf(actions)),
  since: optional(time),
  limit: optional(wholeNumber(1, 200)),
})

/** GET /admin/errors: failed operations and those that try again, by what their failures have in common. */
export const listErrorsEndpoint: AdminEndpoint = async ({ broker }, { query }) => {
  const { limit = 50, since, ...wanted } = readQuery(errorsQuery, query)
  const { groups, complete } = await groupFailures(broker, { ...wanted, since: toMs(since) })
  return json(200, { items: groups.slice(0, limit).map(toBody), complete: complete && groups.length <= limit })
}
