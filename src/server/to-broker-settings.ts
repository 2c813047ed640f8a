import type { BrokerSettings } from '../broker/settings.ts'
import type { Config } from './config.ts'

export function toBrokerSettings({ osb, instances, bindings, server, engine }: Config): BrokerSettings {
  return {
    missingVersionStatus: osb.missingVersion,
    requireOrgAndSpace: osb.requireOrgAndSpace,
    pollAfterDelete: osb.pollAfterDelete,
    rememberDeletedMs: osb.rememberDeleted,
    cascadeDelete: osb.cascadeDelete,
    forceDeleteUnknownInstances: instances.forceDeleteUnknown,
    forceDeleteUnknownBindings: bindings.forceDeleteUnknown,
    syncTimeoutMs: server.syncTimeout,
    leaseMs: engine.lease,
    callTimeoutMs: engine.callTimeout,
    observeEveryMs: engine.observeEvery,
    timeoutsMs: engine.timeouts,
    retry: { initialMs: engine.retry.initial, factor: engine.retry.factor, maxMs: engine.retry.max },
  }
}
