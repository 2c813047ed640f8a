import { type Instance, isKnown } from '../domain/instance.ts'
import { serviceLeft } from '../domain/left-service.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { Plan } from '../protocol/offering.ts'
import type { DeletionRequest } from '../protocol/query.ts'
import type { UpdateRequest } from '../protocol/requests.ts'
import type { BrokerContext, Caller } from './context.ts'
import { createPlaceholder, type ResolvedService } from './resolve-services.ts'
import type { ServiceSchemas } from './service-schemas.ts'

export interface FoundPlan {
  readonly service: ResolvedService
  readonly plan: Plan
  readonly schemas: ServiceSchemas
}

export type PlanInUse = Omit<FoundPlan, 'plan'> & Partial<Pick<FoundPlan, 'plan'>>

export function knownService(service: ResolvedService | undefined): ResolvedService {
  if (service === undefined) throw new BrokerError('UnknownService', 'service_id is not in the catalog of this broker.')
  return service
}

/** Refuses what is new where its service is not here. It may have left while the ledger has the instance. */
export async function refuseUnknown(
  { store }: BrokerContext,
  { platform }: Caller,
  instanceId: string,
  serviceId: string,
): Promise<never> {
  const instance = await store.instance(instanceId)
  if (isKnown(instance, platform) && instance.serviceId === serviceId) throw serviceLeft(serviceId, 'new')
  return knownService(undefined) as never
}

type Wanted = Pick<DeletionRequest, 'serviceId' | 'planId'>

/** A deletion is decided with a service that is not here, too: what does not exist is gone, and else the ledger refuses. */
export async function findPlanToDelete(
  broker: BrokerContext,
  caller: Caller,
  instanceId: string,
  wanted: Wanted,
): Promise<PlanInUse> {
  const { services, registered, settings } = broker
  if (services.find(wanted.serviceId) !== undefined || registered !== undefined)
    return findPlanInUse(broker, caller, instanceId, wanted)
  const service = createPlaceholder(wanted.serviceId, settings)
  return { service, schemas: service.schemas }
}

/** CAT-09: a plan that left the catalog is served on where an instance has it, as its service says. */
export async function findPlanInUse(
  broker: BrokerContext,
  caller: Caller,
  instanceId: string,
  { serviceId, planId }: Wanted,
): Promise<PlanInUse> {
  const { services, registered, store, settings } = broker
  const own = services.find(serviceId)
  if (own === undefined && registered !== undefined) {
    // The plan of the revision that the instance is pinned to. If there is none, the decision refuses the request.
    const pinned = await serviceOf(broker, await store.instance(instanceId), serviceId)
    const service = pinned ?? createPlaceholder(serviceId, settings)
    return { service, schemas: service.schemas, ...service.plans.get(planId) }
  }
  const service = own ?? (await refuseUnknown(broker, caller, instanceId, serviceId))
  if (service.plans.has(planId)) return planOf(service, planId)
  const instance = await store.instance(instanceId)
  // Another platform's instance must not be told by its plan.
  const isCallers = instance?.platform === caller.platform
  if (!isCallers || instance.serviceId !== serviceId || instance.planId !== planId) return planOf(service, planId)
  return { service, schemas: service.schemas }
}

/** The service as the instance has it, or as it is offered now where the instance has none. */
async function serviceOf(
  { services, registered }: BrokerContext,
  instance: Instance | undefined,
  serviceId: string,
): Promise<ResolvedService | undefined> {
  const revisionId = () =>
    instance?.serviceId === serviceId && instance.revisionId !== undefined
      ? instance.revisionId
      : registered?.service(serviceId)?.revisionId
  const known = revisionId()
  const service = known === undefined ? undefined : registered?.at(known)
  if (service !== undefined) return service
  await registered?.refresh()
  const now = revisionId()
  return now === undefined ? services.find(serviceId) : registered?.at(now)
}

/** A plan of that very service: the same id under another one does not count (PROV-22). */
export function planOf(service: ResolvedService, planId: string): FoundPlan {
  const found = service.plans.get(planId)
  if (found === undefined) throw new BrokerError('UnknownPlan', 'plan_id is not a plan of this service.')
  return { service, ...found }
}

/** The plan that an update asks for: one of those that are offered now, or the one that the instance has. */
export async function checkTarget(
  broker: BrokerContext,
  caller: Caller,
  instanceId: string,
  { serviceId, planId }: Pick<UpdateRequest, 'serviceId' | 'planId'>,
): Promise<void> {
  const { services, registered, store } = broker
  const own = services.find(serviceId)
  if (own !== undefined || registered === undefined) {
    if (own === undefined) await refuseUnknown(broker, caller, instanceId, serviceId)
    if (planId !== undefined) await findPlanInUse(broker, caller, instanceId, { serviceId, planId })
    return
  }
  if (planId === undefined) return
  const instance = await store.instance(instanceId)
  const isCallers = instance?.platform === caller.platform
  if (isCallers && instance.serviceId === serviceId && instance.planId === planId) return
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
  const from = await serviceOf(broker, instance, serviceId)
  if (from === undefined) throw serviceLeft(serviceId, 'new')
  const moves = maintenanceVersion !== undefined || (planId !== undefined && planId !== instance.planId)
  return { from, to: (moves ? await serviceOf(broker, undefined, serviceId) : undefined) ?? from }
}

/** Whether the plan's bundle names the other one among those that it `updates_to`. */
export function mayMove({ updatesTo }: ResolvedService, { planId }: Instance, targetPlanId: string): boolean {
  return updatesTo === undefined || updatesTo.get(planId)?.includes(targetPlanId) === true
}
