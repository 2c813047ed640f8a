import type { InstanceInfo } from '../author/context.ts'

/** What authors see of an instance, and nothing else that its row has. */
export function toInstanceInfo(instance: InstanceInfo): InstanceInfo {
  const { id, serviceId, planId, platform, context, parameters, maintenanceVersion } = instance
  return { id, serviceId, planId, platform, context, parameters, maintenanceVersion }
}
