import { lastOperation, type Polled, type PolledOperation } from '../../broker/last-operation.ts'
import { answers } from '../../protocol/answers.ts'
import { wireWriter } from '../../shape/wire.ts'
import type { HttpResponse } from '../message.ts'
import { json } from '../respond.ts'
import type { Endpoint, OsbRequest } from './endpoint.ts'

/** GET /v2/service_instances/:instance_id/last_operation */
export const lastInstanceOperationEndpoint: Endpoint = (broker, request) =>
  answer(lastOperation(broker, request.caller, { instanceId: request.instanceId }, request.query.operation), request)

/** GET …/service_bindings/:binding_id/last_operation */
export const lastBindingOperationEndpoint: Endpoint = (broker, request) => {
  const { caller, instanceId, bindingId, query } = request
  return answer(lastOperation(broker, caller, { instanceId, bindingId }, query.operation), request)
}

function answer(polled: Polled | Promise<Polled>, { minor }: OsbRequest): HttpResponse | Promise<HttpResponse> {
  return polled instanceof Promise ? polled.then(read => polledResponse(read, minor)) : polledResponse(polled, minor)
}

const writeBody = wireWriter(answers.lastOperation)
/** How most of them end, and what is polled most. */
const succeeded = json(200, { state: 'succeeded' })

function polledResponse({ operation, retryAfter }: Polled, minor: number): HttpResponse {
  const state = wireState(operation)
  const description = operation.description || undefined
  if (state === 'succeeded' && description === undefined) return succeeded
  const headers = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) }
  const flags = state === 'failed' ? failureFlags(operation) : undefined
  return json(200, writeBody({ state, description, ...flags }, minor), headers)
}

/** DEP-05, UNB-03: a creation that a deletion has taken over from is reported as failed. */
function wireState({ state }: PolledOperation): 'in progress' | 'succeeded' | 'failed' {
  if (state === 'succeeded') return 'succeeded'
  return state === 'queued' || state === 'running' ? 'in progress' : 'failed'
}

/** POLL-18, POLL-19: only where the failed operation may have them. */
function failureFlags({ action, error }: PolledOperation) {
  return {
    instanceUsable: action === 'update' || action === 'deprovision' ? error?.instanceUsable : undefined,
    updateRepeatable: action === 'update' ? error?.updateRepeatable : undefined,
  }
}
