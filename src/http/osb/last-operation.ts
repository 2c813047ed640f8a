import { lastOperation, type Polled, type PolledOperation } from '../../broker/last-operation.ts'
import { answers } from '../../protocol/answers.ts'
import { wireWriter } from '../../shape/wire.ts'
import type { HttpResponse } from '../message.ts'
import { json } from '../respond.ts'
import type { Endpoint } from './endpoint.ts'

/** GET /v2/service_instances/:instance_id/last_operation */
export const lastInstanceOperationEndpoint: Endpoint = (broker, { caller, instanceId, query, minor }) =>
  lastOperation(broker, caller, { instanceId }, query.operation).then(polled => polledResponse(polled, minor))

/** GET …/service_bindings/:binding_id/last_operation */
export const lastBindingOperationEndpoint: Endpoint = (broker, request) => {
  const { caller, instanceId, bindingId, query, minor } = request
  const polling = lastOperation(broker, caller, { instanceId, bindingId }, query.operation)
  return polling.then(polled => polledResponse(polled, minor))
}

const writeBody = wireWriter(answers.lastOperation)

function polledResponse({ operation, retryAfter }: Polled, minor: number): HttpResponse {
  const headers = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) }
  const state = wireState(operation)
  const flags = state === 'failed' ? failureFlags(operation) : undefined
  const body = { state, description: operation.description || undefined, ...flags }
  return json(200, writeBody(body, minor), headers)
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
