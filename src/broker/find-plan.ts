import type { Plan } from '../protocol/catalog.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { ResolvedService, ServiceIndex, ServiceSchemas } from './resolve-services.ts'

export interface FoundPlan {
  readonly service: ResolvedService
  readonly plan: Plan
  readonly schemas: ServiceSchemas
}

export function findService(services: ServiceIndex, serviceId: string): ResolvedService {
  const service = services.find(serviceId)
  if (service === undefined) throw new BrokerError('UnknownService', 'service_id is not in the catalog of this broker.')
  return service
}

/** A plan of that very service: the same id under another one does not count (PROV-22). */
export function findPlan(services: ServiceIndex, serviceId: string, planId: string): FoundPlan {
  const service = findService(services, serviceId)
  const found = service.plans.get(planId)
  if (found === undefined) throw new BrokerError('UnknownPlan', 'plan_id is not a plan of this service.')
  return { service, ...found }
}
