import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'

/**
 * Where an instance stands. `creating`, `updating` and `deleting` have an active operation; `failed` was never created, or
 * is no longer usable; `deleted` is a tombstone, kept so that a late poll gets a true answer.
 */
export type InstancePhase = 'creating' | 'ready' | 'updating' | 'deleting' | 'failed' | 'deleted'

export interface Condition {
  readonly type: 'Ready' | 'Degraded'
  readonly status: boolean
  readonly reason?: string
  readonly message?: string
  /** When `status` last changed, and when it was last looked at (milliseconds of the store's clock). */
  readonly since: number
  readonly observedAt: number
}

export interface InstanceMetadata {
  readonly labels?: JsonObject
  readonly attributes?: JsonObject
}

/** One row of the ledger. Rows are values: a change is a new row. Times are milliseconds of the store's clock. */
export interface Instance {
  readonly id: string
  readonly platform: string
  readonly serviceId: string
  readonly planId: string
  readonly phase: InstancePhase
  /** Whether a provision ever succeeded: an unusable instance that was created can be repaired by an update. */
  readonly created: boolean
  /** False after a failure that the author said broke the instance: no new bindings until an update repairs it. */
  readonly usable: boolean
  /** Hash of the attributes of the PUT that created it (PROV-23): what a repeated PUT is compared with. */
  readonly requestHash: string
  /** The platform's latest context, `organization_guid` and `space_guid` included. */
  readonly context: JsonObject
  /** What the user asked for, defaults applied. Sealed. */
  readonly parameters: JsonObject
  /** The author's state. Sealed; gone with a successful deprovision. */
  readonly state: JsonObject
  readonly dashboardUrl?: string
  /** Part of the URL that leads to the dashboard: without it nobody can guess the URL. */
  readonly dashboardToken: string
  readonly metadata?: InstanceMetadata
  /** `maintenance_info.version` that the instance runs on. */
  readonly maintenanceVersion?: string
  /** Where its service came from a registry: the revision that it is pinned to, for all that is done to it. */
  readonly revisionId?: string
  /** Accepted before its service was known, and not pinned since: nothing was ever done for it. */
  readonly awaitsCatalog?: boolean
  /** What is needed too: the revision that an update leads to, or that of a deleted instance which is swept first. */
  readonly nextRevisionId?: string
  readonly conditions: readonly Condition[]
  /** The latest operation a platform asked for; observe and sweep do not count. */
  readonly lastOperationId: string
  /** When `observe` is due, for services that have it. */
  readonly observeAt?: number
  /** Until then a call of a worker that lost its lease may still land: a deletion before it is swept once more. */
  readonly uncleanUntil?: number
  /** Observations that were taken over from while others might begin beside: what they may meet waits until they have stopped. */
  readonly drains?: readonly Drained[]
  readonly createdAt: number
  readonly updatedAt: number
  readonly deletedAt?: number
}

/** Every field: see `noOperation`. */
export const noInstance: { readonly [Field in keyof Required<Instance>]: undefined } = {
  id: undefined,
  platform: undefined,
  serviceId: undefined,
  planId: undefined,
  phase: undefined,
  created: undefined,
  usable: undefined,
  requestHash: undefined,
  context: undefined,
  parameters: undefined,
  state: undefined,
  dashboardUrl: undefined,
  dashboardToken: undefined,
  metadata: undefined,
  maintenanceVersion: undefined,
  revisionId: undefined,
  awaitsCatalog: undefined,
  nextRevisionId: undefined,
  conditions: undefined,
  lastOperationId: undefined,
  observeAt: undefined,
  uncleanUntil: undefined,
  drains: undefined,
  createdAt: undefined,
  updatedAt: undefined,
  deletedAt: undefined,
}

/** A superseded operation, and when its lease ends at the latest. */
export interface Drained {
  readonly operationId: string
  readonly until: number
}

/** Whether there is such an instance for this platform: those of others, and tombstones, do not count. */
export function isKnown(instance: Instance | undefined, platform: string): instance is Instance {
  return instance !== undefined && instance.phase !== 'deleted' && instance.platform === platform
}

export function knownInstance(instance: Instance | undefined, platform: string): Instance {
  if (isKnown(instance, platform)) return instance
  throw new BrokerError('InstanceNotFound', 'There is no instance with this id.')
}

/** For operators, whose view is not that of one platform. */
export function liveInstance(instance: Instance | undefined): Instance {
  if (instance === undefined) throw new BrokerError('InstanceNotFound', 'There is no instance with this id.')
  if (instance.phase === 'deleted') throw new BrokerError('InstanceGone', 'The instance has been deleted.')
  return instance
}

export function findCondition(instance: Instance, type: Condition['type']): Condition | undefined {
  return instance.conditions.find(condition => condition.type === type)
}

/** A condition as it is seen now. `since` stays while the status does. */
export function conditionAt(now: number, instance: Instance, seen: Omit<Condition, 'since' | 'observedAt'>): Condition {
  const before = findCondition(instance, seen.type)
  return { ...seen, since: before?.status === seen.status ? before.since : now, observedAt: now }
}

export function isHealthy(instance: Instance): boolean {
  return findCondition(instance, 'Ready')?.status === true
}
