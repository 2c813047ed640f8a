import type { Plan } from '../protocol/catalog.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { Broker } from './broker.ts'
import type { ResolvedService, ServiceIndex, ServiceSchemas } from './resolve-services.ts'

export interface FoundPlan {
  readonly service: ResolvedService
  readonly plan: Plan
  readonly schemas: ServiceSchemas
}

export type PlanInUse = Omit<FoundPlan, 'plan'> & Partial<Pick<FoundPlan, 'plan'>>

export function findService(services: ServiceIndex, serviceId: string): ResolvedService {
  const service = services.find(serviceId)
  if (service === undefined) throw new BrokerError('UnknownService', 'service_id is not in the catalog of this broker.')
  return service
}

/** CAT-09: a plan that left the catalog is served on where an instance has it, as its service says. */
export async function findPlanInUse(
  { services, store }: Pick<Broker, 'services' | 'store'>,
  instanceId: string,
  serviceId: string,
  planId: string,
): Promise<PlanInUse> {
  const service = findService(services, serviceId)
  const found = service.plans.get(planId)
  if (found !== undefined) return { service, ...found }
  const instance = await store.instance(instanceId)
  if (instance?.serviceId !== serviceId || instance.planId !== planId) return findPlan(services, serviceId, planId)
  return { service, schemas: service.schemas }
}

/** A plan of that very service: the same id under another one does not count (PROV-22). */
export function findPlan(services: ServiceIndex, serviceId: string, planId: string): FoundPlan {
  const service = findService(services, serviceId)
  const found = service.plans.get(planId)
  if (found === undefined) throw new BrokerError('UnknownPlan', 'plan_id is not a plan of this service.')
  return { service, ...found }
}
