import type { Instance } from '../domain/instance.ts'
import type { UpdateRequest } from '../protocol/update-request.ts'
import type { BrokerContext } from './context.ts'
import { findPlanInUse, knownService, planOf, serviceOf } from './find-plan.ts'
import type { ResolvedService } from './resolve-services.ts'

/** The plan that an update asks for: one of those that are offered now, or the one that the instance has. */
export async function checkTarget(
  broker: BrokerContext,
  instanceId: string,
  { serviceId, planId }: Pick<UpdateRequest, 'serviceId' | 'planId'>,
): Promise<void> {
  const { services, registered, store } = broker
  const own = services.find(serviceId)
  if (own !== undefined || registered === undefined) {
    if (planId === undefined) knownService(own)
    else await findPlanInUse(broker, instanceId, serviceId, planId)
    return
  }
  if (planId === undefined) return
  const instance = await store.instance(instanceId)
  if (instance?.serviceId === serviceId && instance.planId === planId) return
  planOf(knownService(await serviceOf(broker, undefined, serviceId)), planId)
}

/**
 * An instance stays with its revision. It moves to the one that is offered now where it changes its plan, or is upgraded
 * to the version that the catalog names.
 */
export async function findRevisions(
  broker: BrokerContext,
  instance: Instance,
  { planId, maintenanceVersion }: UpdateRequest,
): Promise<{ readonly from: ResolvedService; readonly to: ResolvedService }> {
  const { serviceId } = instance
  const own = broker.services.find(serviceId)
  if (own !== undefined) return { from: own, to: own }
  const from = knownService(await serviceOf(broker, instance, serviceId))
  const moves = maintenanceVersion !== undefined || (planId !== undefined && planId !== instance.planId)
  return { from, to: (moves ? await serviceOf(broker, undefined, serviceId) : undefined) ?? from }
}

/** Whether the plan's bundle names the other one among those that it `updates_to`. */
export function mayMove({ updatesTo }: ResolvedService, { planId }: Instance, targetPlanId: string): boolean {
  return updatesTo === undefined || updatesTo.get(planId)?.includes(targetPlanId) === true
}
