import type { BrokerSettings, CleanUpSettings } from '../broker/settings.ts'
import type { ReconcileSettings } from '../domain/registry-reply.ts'
import type { Config } from './config.ts'
import type { LedgerOptions } from './open-store.ts'

export function toBrokerSettings(config: Config): BrokerSettings {
  const { osb, instances, bindings, server, engine, reconcile, chores } = config
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
    chores: {
      timeZone: chores.timeZone,
      observe: chores.observe,
      sync: chores.sync,
      purge: chores.purge,
      purgeAfterMs: chores.purgeAfter,
      cleanUp: { instances: toCleanUp(chores.cleanUp.instances), bindings: toCleanUp(chores.cleanUp.bindings) },
    },
    retiredPlans: reconcile.retiredPlans,
  }
}

export function toReconcileSettings({ reconcile: { retireAfter, failureLimit } }: Config): ReconcileSettings {
  return { retireAfterMs: retireAfter, failureLimit }
}

export function toLedgerOptions({ ledger }: Config): LedgerOptions {
  const { schema, poolSize, connectTimeout, statementTimeout } = ledger
  return { schema, poolSize, connectTimeoutMs: connectTimeout, statementTimeoutMs: statementTimeout }
}

function toCleanUp({ age, ...patterns }: Config['chores']['cleanUp']['instances']): CleanUpSettings {
  return { ageMs: age, ...patterns }
}
