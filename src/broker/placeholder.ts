import type { ReadSettings } from '../settings/settings.ts'
import type { ResolvedAction, ResolvedService } from './resolve-services.ts'

/**
 * Stands in for a service that is not known: one that a registry may offer when it has answered, or one that is gone while
 * a platform still asks for its instances. It has the settings that every service starts from, and no plan.
 */
export function createPlaceholder(serviceId: string, { engine }: ReadSettings): ResolvedService {
  const { timeouts, retry } = engine
  const action = (timeout: number): ResolvedAction => ({ mode: 'auto', timeout, retry })
  return {
    offering: { id: serviceId, name: '', description: '', bindable: true, plans: [] },
    code: { id: serviceId, provision: () => undefined, deprovision: () => undefined },
    actions: {
      provision: action(timeouts.provision),
      update: action(timeouts.update),
      deprovision: action(timeouts.deprovision),
      bind: action(timeouts.bind),
      unbind: action(timeouts.unbind),
    },
    callTimeout: engine.callTimeout,
    observeEvery: engine.observeEvery,
    plans: new Map(),
    schemas: {},
    lateCalls: false,
  }
}
