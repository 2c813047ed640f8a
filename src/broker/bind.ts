import type { Binding } from '../domain/binding.ts'
import { decideBind } from '../domain/decide-bind.ts'
import { knownInstance } from '../domain/instance.ts'
import { bindAttributes } from '../domain/request-hash.ts'
import type { JsonObject } from '../protocol/json.ts'
import { isBindable } from '../protocol/offering.ts'
import type { BindRequest } from '../protocol/requests.ts'
import { accept, createIntent } from './accept.ts'
import type { AskedOfBinding, BrokerContext, Caller } from './context.ts'
import { findPlanInUse } from './find-plan.ts'
import { checkParameters } from './service-schemas.ts'
import { waitForEnd } from './wait-for-end.ts'

export type Bound =
  | { readonly kind: 'exists' | 'created'; readonly binding: Binding }
  | { readonly kind: 'accepted'; readonly operation: string }

/** PUT /v2/service_instances/:instance_id/service_bindings/:binding_id */
export async function bind(
  broker: BrokerContext,
  caller: Caller,
  { instanceId, bindingId, request, acceptsIncomplete }: AskedOfBinding<BindRequest>,
): Promise<Bound> {
  const asked = await complete(broker, caller, instanceId, request)
  const { service, plan, schemas } = await findPlanInUse(broker, caller, instanceId, asked)
  // What a rotation inherits has been checked when its predecessor was made.
  const parameters =
    asked.parameters === request.parameters || request.predecessorId === undefined
      ? await checkParameters(schemas.bind, asked.parameters)
      : () => asked.parameters
  const attributes: JsonObject =
    request.predecessorId === undefined
      ? bindAttributes(asked)
      : { predecessorId: request.predecessorId, parameters: request.parameters, bindResource: request.bindResource }
  const intent = {
    ...createIntent(broker, caller, { action: 'bind', instanceId, service, plan, attributes, acceptsIncomplete }),
    bindingId,
    planId: asked.planId,
    requestedPlanId: request.planId,
    rotatable: plan?.bindingRotatable === true,
    bindable: plan === undefined ? service.offering.bindable : isBindable(service.offering, plan),
    context: asked.context,
    bindResource: asked.bindResource,
    appGuid: asked.appGuid,
    requiresApp: service.code.requiresApp === true,
    parameters,
    predecessorId: request.predecessorId,
  }
  const target = { instanceId, bindingId, predecessorId: request.predecessorId }
  const answer = await broker.queue.enter({ ...intent, action: 'bind' }, check =>
    accept(broker, target, snapshot => check(decideBind(snapshot, intent)), caller),
  )
  if (answer.kind === 'exists') return answer
  if (!answer.wait) return { kind: 'accepted', operation: answer.operation.id }
  await waitForEnd(broker, answer.operation)
  return { kind: 'created', binding: (await broker.store.binding(instanceId, bindingId)) ?? answer.binding }
}

type CompleteRequest = Required<Omit<BindRequest, 'predecessorId' | 'appGuid'>> & Pick<BindRequest, 'appGuid'>

/** ROT-05: a rotation may bring nothing but its predecessor's id; the rest is the predecessor's. */
async function complete(
  broker: BrokerContext,
  caller: Caller,
  instanceId: string,
  request: BindRequest,
): Promise<CompleteRequest> {
  const { serviceId, planId, context = {}, bindResource = {}, appGuid, parameters = {} } = request
  if (request.predecessorId === undefined && serviceId !== undefined && planId !== undefined)
    return { serviceId, planId, context, bindResource, parameters, appGuid }
  const instance = knownInstance(await broker.store.instance(instanceId), caller.platform)
  const before = await broker.store.binding(instanceId, request.predecessorId ?? '')
  return {
    serviceId: serviceId ?? instance.serviceId,
    planId: planId ?? instance.planId,
    context: request.context ?? before?.context ?? {},
    bindResource: request.bindResource ?? before?.bindResource ?? {},
    appGuid: appGuid ?? before?.appGuid,
    parameters: request.parameters ?? before?.parameters ?? {},
  }
}
