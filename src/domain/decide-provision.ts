import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Snapshot, Verdict } from './change.ts'
import { type Instance, isHealthy, noInstance } from './instance.ts'
import type { Accepted, Intent } from './intent.ts'
import { begin, busy, checkMaintenance, quietAt, stillSwept, waits } from './intent.ts'
import type { OperationInput } from './operation.ts'

export interface ProvisionIntent extends Intent {
  readonly planId: string
  readonly context: JsonObject
  /** The user's parameters with defaults; throws InvalidParameters. Called last: the other checks come first. */
  readonly parameters: () => JsonObject
  readonly requestedMaintenance?: string
  readonly catalogMaintenance?: string
  /** Where the service came from a registry. Absent too while it is not known which revision it is. */
  readonly revisionId?: string
  /** What can be checked only when the service is known. */
  readonly input?: OperationInput
  /** What the answer names before the action knows better. */
  readonly dashboardUrl?: string
  readonly dashboardToken: string
}

export type ProvisionAnswer = (Accepted & { readonly instance: Instance }) | { kind: 'exists'; instance: Instance }

/** PUT on an instance id: start, repeat, exists, conflict or busy. The table is in ARCHITECTURE.md. */
export function decideProvision(snapshot: Snapshot, intent: ProvisionIntent): Verdict<ProvisionAnswer> {
  const { instance, operation } = snapshot
  if (instance === undefined || instance.phase === 'deleted') return start(snapshot, intent)
  if (instance.platform !== intent.platform || instance.requestHash !== intent.requestHash)
    throw new BrokerError(
      'InstanceConflict',
      'An instance with this id exists, or is being created, with other attributes or for another platform.',
    )
  if (operation?.action === 'provision')
    return { answer: { kind: 'accepted', operation, instance, wait: waits(intent) } }
  if (operation !== undefined && operation.action !== 'observe') throw busy(operation, 'The instance')
  if (instance.phase !== 'failed') return { answer: { kind: 'exists', instance } }
  if (isHealthy(instance)) return heal(snapshot, instance)
  return start(snapshot, intent, instance)
}

/**
 * A new id, or a new attempt after a failed one: the state that the failed attempt saved is kept for it. What was deleted
 * under the id and is still being swept goes first. Another platform is refused meanwhile: should the provision never
 * begin, the tombstone is that of the first one again, and would answer its polls.
 */
function start(snapshot: Snapshot, intent: ProvisionIntent, failed?: Instance): Verdict<ProvisionAnswer> {
  const { now, operation: old } = snapshot
  const wait = waits(intent)
  const tombstone = old?.action === 'sweep' ? snapshot.instance : undefined
  const notBefore = tombstone === undefined ? quietAt(snapshot.instance, now) : undefined
  const isLater = tombstone !== undefined || notBefore !== undefined
  if (isLater && (wait || snapshot.instance?.platform !== intent.platform)) throw stillSwept('instance')
  checkMaintenance(intent.requestedMaintenance, intent.catalogMaintenance)
  const parameters = intent.parameters()
  const swept = tombstone && { instance: tombstone }
  const { operation, written } = begin(intent, 'provision', now, { input: intent.input, old, swept, notBefore })
  const instance: Instance = {
    ...noInstance,
    id: intent.instanceId,
    platform: intent.platform,
    serviceId: intent.serviceId,
    planId: intent.planId,
    phase: 'creating',
    created: failed?.created ?? false,
    usable: false,
    requestHash: intent.requestHash,
    context: intent.context,
    parameters,
    state: failed?.state ?? {},
    dashboardUrl: intent.dashboardUrl,
    dashboardToken: failed?.dashboardToken ?? intent.dashboardToken,
    maintenanceVersion: intent.catalogMaintenance,
    revisionId: intent.revisionId,
    // Of an earlier attempt something may be there.
    awaitsCatalog:
      (intent.unknownService !== undefined && (failed?.awaitsCatalog ?? failed === undefined)) || undefined,
    nextRevisionId: tombstone?.revisionId,
    uncleanUntil: failed?.uncleanUntil,
    conditions: [],
    lastOperationId: operation.id,
    createdAt: failed?.createdAt ?? now,
    updatedAt: now,
  }
  return { answer: { kind: 'accepted', operation, instance, wait }, change: { instance, ...written } }
}

/** The creation failed but the instance was observed healthy since: its PUT is answered with what is true now. */
function heal(snapshot: Snapshot, failed: Instance): Verdict<ProvisionAnswer> {
  const instance: Instance = { ...failed, phase: 'ready', created: true, usable: true, updatedAt: snapshot.now }
  return { answer: { kind: 'exists', instance }, change: { instance } }
}
