import {
  type ActedOn,
  cancelOperation,
  failOperation,
  retryOperation,
  runOperationNow,
} from '../../broker/verbs/act-on-operation.ts'
import { showOperation } from '../../broker/verbs/show.ts'
import { limits } from '../../domain/limits.ts'
import { text } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import type { HttpResponse } from '../message.ts'
import { json } from '../respond.ts'
import type { AdminContext, AdminEndpoint } from './admin-app.ts'
import { readFields, reason } from './read-fields.ts'
import { toBody } from './to-body.ts'

const body = object({ reason: optional(reason) })

const failBody = object({
  reason,
  message: text({
    rule: `a text of at most ${limits.descriptionLength} characters, which the platform shows to its user`,
    allows: words => /\S/.test(words) && words.length <= limits.descriptionLength,
  }),
})

/** POST /admin/operations/:id/retry -> 202 with the new operation. */
export const retryOperationEndpoint: AdminEndpoint = simpleVerb(retryOperation)

/** POST /admin/operations/:id/cancel -> 202 with the operation that undoes it, or the operation itself. */
export const cancelOperationEndpoint: AdminEndpoint = simpleVerb(cancelOperation)

/** POST /admin/operations/:id/run-now -> 202 */
export const runOperationNowEndpoint: AdminEndpoint = simpleVerb(runOperationNow)

/** POST /admin/operations/:id/fail -> 202: it fails as soon as nobody works on it any more. */
export const failOperationEndpoint: AdminEndpoint = async (context, request) => {
  const { message, reason: why } = readFields(failBody, await request.body())
  const acting = { ...request.acting, reason: why }
  return accepted(context, await failOperation(context.broker, acting, { id: request.id, message }))
}

function simpleVerb(act: typeof retryOperation): AdminEndpoint {
  return async (context, request) => {
    const { reason: why } = readFields(body, await request.body())
    return accepted(context, await act(context.broker, { ...request.acting, reason: why }, request.id))
  }
}

/** How it stands now: a worker may have taken it already. */
async function accepted({ broker }: AdminContext, { id }: ActedOn): Promise<HttpResponse> {
  const { operation, waitingFor } = await showOperation(broker, id)
  return json(202, { ...toBody(operation), waiting_for: waitingFor })
}
