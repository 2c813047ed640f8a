import {
  cancelOperation,
  failOperation,
  holdOperation,
  releaseOperation,
  retryOperation,
  runOperationNow,
} from '../../broker/verbs/act-on-operation.ts'
import { toShownOperation, waitingFor } from '../../broker/verbs/show.ts'
import { limits } from '../../domain/limits.ts'
import type { Operation } from '../../domain/operation.ts'
import type { Acting } from '../../domain/operator.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { text } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import type { HttpResponse } from '../message.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint, AdminRequest } from './admin-app.ts'
import { readFields, reason } from './read-fields.ts'
import { toBody } from './to-body.ts'

export const verbBody = object({ reason: optional(reason) })

/** What the platform is told. */
export const messageField = text({
  rule: `a text of at most ${limits.descriptionLength} characters, which the platform shows to its user`,
  allows: words => /\S/.test(words) && words.length <= limits.descriptionLength,
})

export const failBody = object({ reason, message: messageField })

/** POST /admin/operations/:id/retry -> 202 with the new operation; one that was held goes on itself. */
export const retryOperationEndpoint: AdminEndpoint = simpleVerb(retryOperation)

/** POST /admin/operations/:id/cancel -> 202 with the operation that undoes it, or the operation itself. */
export const cancelOperationEndpoint: AdminEndpoint = simpleVerb(cancelOperation)

/** POST /admin/operations/:id/hold -> 202: nobody runs it until it is released. */
export const holdOperationEndpoint: AdminEndpoint = simpleVerb(holdOperation)

/** POST /admin/operations/:id/release -> 202: it goes on with all of its retries. */
export const releaseOperationEndpoint: AdminEndpoint = simpleVerb(releaseOperation)

/** POST /admin/operations/:id/run-now -> 202 */
export const runOperationNowEndpoint: AdminEndpoint = simpleVerb(runOperationNow)

/** POST /admin/operations/:id/fail -> 202: it fails as soon as nobody works on it any more. */
export const failOperationEndpoint: AdminEndpoint = async (context, request) => {
  const { message, reason: why } = readFields(failBody, await request.body())
  const acting = actingOf(request, why)
  return accepted(await failOperation(context.broker, acting, { id: request.id, message }))
}

function simpleVerb(act: typeof retryOperation): AdminEndpoint {
  return async (context, request) => {
    const { reason: why } = readFields(verbBody, await request.body())
    return accepted(await act(context.broker, actingOf(request, why), request.id))
  }
}

export function actingOf({ acting, once }: AdminRequest, reason: string | undefined): Acting {
  const remember = once && ((answer: unknown) => once.note(202, bodyOf(answer as Operation)))
  return { ...acting, reason, remember }
}

/** As it was decided: a worker may have taken it since. */
export function accepted(operation: Operation): HttpResponse {
  return json(202, bodyOf(operation))
}

function bodyOf(operation: Operation): JsonObject {
  return { ...toBody(toShownOperation(operation)), waiting_for: waitingFor(operation) }
}
