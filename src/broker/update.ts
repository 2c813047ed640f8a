import { isDeepStrictEqual } from 'node:util'
import { demandedOf } from '../catalog/parameters.ts'
import { decideUpdate } from '../domain/decide-update.ts'
import { type Instance, knownInstance } from '../domain/instance.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { isPlanUpdateable } from '../protocol/offering.ts'
import { malformed } from '../protocol/request-fields.ts'
import type { UpdateRequest } from '../protocol/requests.ts'
import { type AcceptedInstance, accept, createIntent } from './accept.ts'
import type { Asked, BrokerContext, Caller } from './context.ts'
import { ownDashboard, updatedDashboard } from './dashboard.ts'
import { checkTarget, findRevisions, mayMove } from './find-plan.ts'
import { checkParameters, type ServiceSchemas } from './service-schemas.ts'
import { waitForEnd } from './wait-for-end.ts'

export type Updated = { readonly kind: 'updated' | 'unchanged'; readonly instance: Instance } | AcceptedInstance

/** PATCH /v2/service_instances/:instance_id */
export async function update(broker: BrokerContext, caller: Caller, asked: Asked<UpdateRequest>): Promise<Updated> {
  const { instanceId, request } = asked
  await checkTarget(broker, caller, instanceId, request)
  while (true) {
    const instance = knownInstance(await broker.store.instance(instanceId), caller.platform)
    if (instance.serviceId !== request.serviceId) throw malformed('service_id is not the service of this instance')
    const updated = await updateFrom(broker, caller, instance, asked)
    if (updated !== undefined) return updated
  }
}

/** Undefined if the instance's plan or parameters changed meanwhile: the caller then checks the request against the new ones. */
async function updateFrom(
  broker: BrokerContext,
  caller: Caller,
  instance: Instance,
  { instanceId, request, acceptsIncomplete }: Asked<UpdateRequest>,
): Promise<Updated | undefined> {
  const targetPlanId = request.planId ?? instance.planId
  const { from, to: service } = await findRevisions(broker, instance, request)
  const target = service.plans.get(targetPlanId)
  const plan = target?.plan
  const present = from.plans.get(instance.planId)
  const changesPlan = targetPlanId !== instance.planId
  const moves = changesPlan || from.revisionId !== service.revisionId
  const requested =
    service.revisionId === undefined ? request.parameters : withoutEqual(request.parameters, instance.parameters)
  const parameters =
    service.revisionId !== undefined && (moves || requested !== undefined)
      ? await bundleParameters((target ?? service).schemas, instance, requested)
      : await mergedParameters((target ?? service).schemas, instance, requested, changesPlan)
  const { planId, maintenanceVersion } = request
  const attributes = { planId, parameters: request.parameters, maintenanceVersion, context: request.context }
  // Organization and space do not move with an update that leaves them out.
  const { organization_guid, space_guid } = instance.context
  const context = request.context && { organization_guid, space_guid, ...request.context }
  const intent = {
    ...createIntent(broker, caller, { action: 'update', instanceId, service, plan, attributes, acceptsIncomplete }),
    targetPlanId,
    changesPlan: planId !== undefined,
    // A plan that left the catalog can be left as well: its instances have to go somewhere.
    planUpdateable:
      present === undefined || (isPlanUpdateable(from.offering, present.plan) && mayMove(from, instance, targetPlanId)),
    context,
    hasParameters: requested !== undefined,
    mergedInto: instance.parameters,
    parameters,
    requestedMaintenance: maintenanceVersion,
    catalogMaintenance: plan?.maintenanceInfo?.version,
    revisionId: instance.revisionId,
    targetRevisionId: service.revisionId,
    updateable: service.code.update !== undefined,
    tellsContext: service.offering.allowContextUpdates === true && service.code.update !== undefined,
    dashboardUrl: ownDashboard(service, { ...instance, planId: targetPlanId }),
  }
  const answer = await broker.queue.enter({ ...intent, action: 'update' }, check =>
    accept(broker, { instanceId }, snapshot => check(decideUpdate(snapshot, intent)), caller),
  )
  if (answer.kind === 'stale') return undefined
  if (answer.kind === 'unchanged') return answer
  if (answer.wait) {
    await waitForEnd(broker, answer.operation)
    return { kind: 'updated', instance: (await broker.store.instance(instanceId)) ?? answer.instance }
  }
  const promised = updatedDashboard(service, answer.instance, answer.operation, caller.baseUrl())
  return { kind: 'accepted', instance: answer.instance, operation: answer.operation.id, dashboardUrl: promised }
}

/** Forms send every field. One that keeps its value asks for nothing, even if it could not be changed. */
function withoutEqual(requested: JsonObject | undefined, stored: JsonObject): JsonObject | undefined {
  if (requested === undefined) return undefined
  const changed = Object.entries(requested).filter(([key, value]) => !isDeepStrictEqual(value, stored[key]))
  return changed.length === 0 ? undefined : Object.fromEntries(changed)
}

/**
 * An update of a bundle is judged on what it leads to: what it must name counts as named where the instance has it. Another plan,
 * or another version, may know other parameters: those that it does not know are left behind.
 */
async function bundleParameters(
  { create, update }: ServiceSchemas,
  instance: Instance,
  requested: JsonObject | undefined,
): Promise<() => JsonObject> {
  const demanded = demandedOf(update?.jsonSchema, instance.parameters)
  const asked = await checkParameters(update, { ...demanded, ...requested })
  const properties = create?.jsonSchema.properties
  const isClosed = create?.jsonSchema.additionalProperties === false && isJsonObject(properties)
  const kept = Object.entries(instance.parameters).filter(([key]) => !isClosed || Object.hasOwn(properties, key))
  const whole = await checkParameters(create, { ...Object.fromEntries(kept), ...requested })
  return () => {
    asked()
    return whole()
  }
}

/**
 * An update names the top-level fields it changes; the others stay. Without an update schema of its own, what the update
 * leads to has to satisfy the create schema: that of the plan it leads to, also where only the plan changes.
 */
async function mergedParameters(
  { update, updateDerived, create }: ServiceSchemas,
  instance: Instance,
  requested: JsonObject | undefined,
  changesPlan: boolean,
): Promise<() => JsonObject> {
  if (requested === undefined)
    return changesPlan && updateDerived ? checkParameters(create, instance.parameters) : () => instance.parameters
  const asked = await checkParameters(update, requested)
  const whole = await checkParameters(updateDerived ? create : undefined, { ...instance.parameters, ...requested })
  return () => {
    const values = asked()
    return updateDerived ? whole() : { ...instance.parameters, ...values }
  }
}
