import { checkDashboard } from '../author/check-dashboard.ts'
import type { InstanceInfo } from '../author/context.ts'
import type { Instance } from '../domain/instance.ts'
import { isActive, type Operation } from '../domain/operation.ts'
import { toError } from '../observer.ts'
import { type BrokerContext, toInstanceInfo } from './context.ts'
import type { ResolvedService } from './resolve-services.ts'

/** PROV-17: the first answer has the URL. Where the service says `redirect`, it is one of ours until the action knows it. */
export function promisedDashboard(service: ResolvedService, instance: Instance, baseUrl: string): string | undefined {
  return instance.dashboardUrl ?? redirectUrl(service, instance, baseUrl)
}

/** UPD-27: an update may change the URL. Ours leads to the one that is in force. */
export function updatedDashboard(
  service: ResolvedService,
  instance: Instance,
  { input }: Operation,
  baseUrl: string,
): string | undefined {
  return redirectUrl(service, instance, baseUrl) ?? input.dashboardUrl ?? instance.dashboardUrl
}

/** The URL that the service can name before its action has run. */
export function ownDashboard({ code }: ResolvedService, instance: InstanceInfo): string | undefined {
  const { dashboard } = code
  if (typeof dashboard !== 'function') return undefined
  const who = `dashboard of the service "${code.id}"`
  try {
    return checkDashboard(dashboard(toInstanceInfo(instance)), who)
  } catch (thrown) {
    throw toError(thrown, who)
  }
}

/** Where a redirect URL leads: to the dashboard, to a page that says "later", or nowhere. */
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

function redirectUrl({ code }: ResolvedService, { id, dashboardToken }: Instance, baseUrl: string): string | undefined {
  return code.dashboard === 'redirect' ? `${baseUrl}/dashboards/${encodeURIComponent(id)}/${dashboardToken}` : undefined
}
