import { checkGatePlace } from '../../broker/gates/check-place.ts'
import { type Gate, type GatedAction, gatedActions } from '../../domain/gate.ts'
import type { Acting } from '../../domain/operator.ts'
import { malformed } from '../../protocol/request-fields.ts'
import { text, wholeNumber } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminContext, AdminEndpoint } from './admin-app.ts'
import { readQuery } from './lists.ts'
import { messageField } from './operation-verbs.ts'
import { readFields, reason } from './read-fields.ts'
import { toBody } from './to-body.ts'

const of = { serviceId: optional(text()), planId: optional(text()) }
export const openGateQuery = object({ ...of, reason: optional(reason) })
export const gateBody = object({
  ...of,
  message: messageField,
  retryAfter: optional(wholeNumber(1, 86_400)),
  reason: optional(reason),
})

/** GET /admin/gates */
export const listGatesEndpoint: AdminEndpoint = async ({ broker }) =>
  json(200, { gates: (await broker.gates.list()).map(toBody) })

/** GET /admin/gates/:action: those of one action. */
export const readGatesEndpoint: AdminEndpoint = async ({ broker }, { id }) => {
  const action = readAction(id)
  return json(200, { gates: (await broker.gates.list()).filter(gate => gate.action === action).map(toBody) })
}

/** PUT /admin/gates/:action: from now on new requests of it are refused, of one service or plan where they are named. */
export const putGateEndpoint: AdminEndpoint = async (context, request) => {
  const given = readFields(gateBody, await request.body())
  const { broker } = context
  const gate: Gate = {
    action: readAction(request.id),
    ...checkPlace(given),
    by: request.acting.by,
    since: broker.storeNow(),
  }
  await checkGatePlace(broker, gate)
  const acting = { ...request.acting, reason: gate.reason }
  await broker.gates.put(gate, acting)
  tell(context, acting, gate, true)
  return json(200, toBody(gate))
}

/** DELETE /admin/gates/:action?service_id=…&plan_id=…&reason=…: the one that is named exactly so. */
export const deleteGateEndpoint: AdminEndpoint = async (context, request) => {
  const { reason: why, ...place } = checkPlace(readQuery(openGateQuery, request.query))
  const acting = { ...request.acting, reason: why }
  const gate = await context.broker.gates.remove({ action: readAction(request.id), ...place }, acting)
  tell(context, acting, gate, false)
  return json(200, toBody(gate))
}

function readAction(id: string): GatedAction {
  const action = gatedActions.find(each => each === id)
  if (action === undefined) throw malformed(`there are gates for ${gatedActions.join(', ')}`)
  return action
}

function checkPlace<Given extends Pick<Gate, 'serviceId' | 'planId'>>(given: Given): Given {
  if (given.planId !== undefined && given.serviceId === undefined) throw malformed('plan_id needs service_id beside it')
  return given
}

function tell({ broker }: AdminContext, acting: Acting, { action, serviceId, planId }: Gate, closed: boolean): void {
  const { by: principal, reason: why, requestId } = acting
  broker.observer['gate.changed']?.({ action, closed, principal, serviceId, planId, reason: why, requestId })
}
