import type { Instance } from '../domain/instance.ts'
import { isActive, type Operation } from '../domain/operation.ts'
import type { BrokerContext } from './context.ts'
import { toInstanceInfo } from './instance-info.ts'
import type { ResolvedService } from './resolve-services.ts'

/** PROV-17: the URL is due with the first answer. Where only the action will know it, one of ours stands in for it. */
export function promisedDashboard(service: ResolvedService, instance: Instance, baseUrl: string): string | undefined {
  const { dashboard } = service.code
  if (instance.dashboardUrl !== undefined || dashboard !== undefined) return instance.dashboardUrl
  return standIn(instance, baseUrl)
}

/** UPD-27: an update may end with another URL than the instance has now; ours leads to whichever is in force. */
export function updatedDashboard(
  service: ResolvedService,
  instance: Instance,
  { input }: Operation,
  baseUrl: string,
): string | undefined {
  if (service.code.dashboard === undefined) return standIn(instance, baseUrl)
  return input.dashboardUrl ?? instance.dashboardUrl
}

/** What the service itself says before anything has been done. */
export function ownDashboard(
  service: ResolvedService,
  instance: Parameters<typeof toInstanceInfo>[0],
): string | undefined {
  const { dashboard } = service.code
  return typeof dashboard === 'function' ? dashboard(toInstanceInfo(instance)) : undefined
}

/** Where a stand-in URL leads: to the dashboard, to later, or nowhere. */
export async function findDashboard(
  broker: BrokerContext,
  instanceId: string,
  token: string,
): Promise<{ readonly kind: 'found'; readonly url: string } | { readonly kind: 'later' | 'none' }> {
  const instance = await broker.store.instance(instanceId)
  if (instance === undefined || instance.phase === 'deleted' || instance.dashboardToken !== token)
    return { kind: 'none' }
  if (instance.dashboardUrl !== undefined) return { kind: 'found', url: instance.dashboardUrl }
  const operation = await broker.store.operation(instance.lastOperationId)
  return { kind: isActive(operation) ? 'later' : 'none' }
}

function standIn({ id, dashboardToken }: Instance, baseUrl: string): string {
  return `${baseUrl}/dashboards/${encodeURIComponent(id)}/${dashboardToken}`
}
