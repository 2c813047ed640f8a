import type { InstanceInfo } from '../author/context.ts'
import type { Instance } from '../domain/instance.ts'

/** What authors see of an instance. */
export function toInstanceInfo(
  instance: Pick<
    Instance,
    'id' | 'serviceId' | 'planId' | 'platform' | 'context' | 'parameters' | 'maintenanceVersion'
  >,
): InstanceInfo {
  return {
    id: instance.id,
    serviceId: instance.serviceId,
    planId: instance.planId,
    platform: instance.platform,
    context: instance.context,
    parameters: instance.parameters,
    maintenanceVersion: instance.maintenanceVersion,
  }
}
