import type { Instance } from '../domain/instance.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { Plan } from '../protocol/offering.ts'
import type { BrokerContext } from './context.ts'
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

/** CAT-09: a plan that left the catalog is served on where an instance has it, as its service says. */
export async function findPlanInUse(
  broker: BrokerContext,
  instanceId: string,
  serviceId: string,
  planId: string,
): Promise<PlanInUse> {
  const { services, registered, store } = broker
  if (registered !== undefined && services.find(serviceId) === undefined)
    return findRegistered(broker, instanceId, serviceId, planId)
  const service = knownService(services.find(serviceId))
  if (service.plans.has(planId)) return planOf(service, planId)
  const instance = await store.instance(instanceId)
  if (instance?.serviceId !== serviceId || instance.planId !== planId) return planOf(service, planId)
  return { service, schemas: service.schemas }
}

/** Looks the plan up in the revision that the instance is pinned to. If it is not found, the decision refuses the request. */
async function findRegistered(
  broker: BrokerContext,
  instanceId: string,
  serviceId: string,
  planId: string,
): Promise<PlanInUse> {
  const instance = await broker.store.instance(instanceId)
  const service = (await serviceOf(broker, instance, serviceId)) ?? createPlaceholder(serviceId, broker.settings)
  return { service, schemas: service.schemas, ...service.plans.get(planId) }
}

/** The service as the instance has it, or as it is offered now where the instance has none. */
export async function serviceOf(
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
