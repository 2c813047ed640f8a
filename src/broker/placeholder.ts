import type { ResolvedAction, ResolvedService } from './resolve-services.ts'
import type { BrokerSettings } from './settings.ts'

/**
 * Stands in for a service that is not known: one that a registry may offer when it has answered, or one that is gone while
 * a platform still asks for its instances. It has the settings that every service starts from, and no plan.
 */
export function createPlaceholder(
  serviceId: string,
  { timeoutsMs, retry, ...settings }: BrokerSettings,
): ResolvedService {
  const action = (timeoutMs: number): ResolvedAction => ({ mode: 'auto', timeoutMs, retry })
  return {
    offering: { id: serviceId, name: '', description: '', bindable: true, plans: [] },
    code: { id: serviceId, provision: () => undefined, deprovision: () => undefined },
    actions: {
      provision: action(timeoutsMs.provision),
      update: action(timeoutsMs.update),
      deprovision: action(timeoutsMs.deprovision),
      bind: action(timeoutsMs.bind),
      unbind: action(timeoutsMs.unbind),
    },
    callTimeoutMs: settings.callTimeoutMs,
    observeEveryMs: settings.observeEveryMs,
    plans: new Map(),
    schemas: {},
    lateCalls: false,
  }
}
