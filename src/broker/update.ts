import { decideUpdate } from '../domain/decide-update.ts'
import { type Instance, knownInstance } from '../domain/instance.ts'
import type { JsonObject } from '../protocol/json.ts'
import { isPlanUpdateable } from '../protocol/offering.ts'
import { malformed } from '../protocol/request-fields.ts'
import type { UpdateRequest } from '../protocol/requests.ts'
import { type AcceptedInstance, accept, createIntent } from './accept.ts'
import type { Asked, BrokerContext, Caller } from './context.ts'
import { ownDashboard, updatedDashboard } from './dashboard.ts'
import { checkTarget, findRevisions, mayMove } from './find-plan.ts'
import { mergedParameters, movedParameters, withoutEqual } from './update-parameters.ts'
import { waitForEnd } from './wait-for-end.ts'

export type Updated = { readonly kind: 'updated' | 'unchanged'; readonly instance: Instance } | AcceptedInstance

/** PATCH /v2/service_instances/:instance_id */
export async function update(broker: BrokerContext, caller: Caller, asked: Asked<UpdateRequest>): Promise<Updated> {
  const { instanceId, request } = asked
  await checkTarget(broker, instanceId, request)
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
    service.revisionId !== undefined && moves
      ? await movedParameters((target ?? service).schemas, instance, requested)
      : await mergedParameters((target ?? service).schemas, instance, requested, changesPlan)
  const { planId, maintenanceVersion } = request
  const attributes: JsonObject = {
    planId,
    parameters: request.parameters,
    maintenanceVersion,
    context: request.context,
  }
  const context = request.context === undefined ? undefined : { ...placeFields(instance.context), ...request.context }
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
  const answer = await accept(broker, { instanceId }, snapshot => decideUpdate(snapshot, intent), caller)
  if (answer.kind === 'stale') return undefined
  if (answer.kind === 'unchanged') return answer
  if (answer.wait) {
    await waitForEnd(broker, answer.operation)
    return { kind: 'updated', instance: (await broker.store.instance(instanceId)) ?? answer.instance }
  }
  const promised = updatedDashboard(service, answer.instance, answer.operation, caller.baseUrl())
  return { kind: 'accepted', instance: answer.instance, operation: answer.operation.id, dashboardUrl: promised }
}

/** Organization and space do not move with an update that leaves them out. */
function placeFields({ organization_guid, space_guid }: JsonObject): JsonObject {
  return { organization_guid, space_guid }
}
