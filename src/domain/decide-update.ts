import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Snapshot, Verdict } from './change.ts'
import { type Instance, knownInstance } from './instance.ts'
import type { Accepted, Intent } from './intent.ts'
import { begin, busy, checkMaintenance, waits } from './intent.ts'
import type { OperationInput } from './operation.ts'

export interface UpdateIntent extends Intent {
  /** The plan that the caller validated against: the requested one, else the one the instance had when it was read. */
  readonly targetPlanId: string
  readonly changesPlan: boolean
  /** Whether the instance's present plan may be left. */
  readonly planUpdateable: boolean
  readonly context?: JsonObject
  readonly hasParameters: boolean
  /** The parameters that the instance had when those of the request were merged into them. */
  readonly mergedInto: JsonObject
  /** The instance's parameters after the update; throws InvalidParameters. */
  readonly parameters: () => JsonObject
  readonly requestedMaintenance?: string
  readonly catalogMaintenance?: string
  /** The revision that the instance was pinned to when it was read, and the one that the update was checked against. */
  readonly revisionId?: string
  readonly targetRevisionId?: string
  /** The service has an update action; without one only the context can change. */
  readonly updateable: boolean
  /** A change of nothing but the context is the author's business too. */
  readonly tellsContext: boolean
  readonly dashboardUrl?: string
}

export type UpdateAnswer =
  | (Accepted & { readonly instance: Instance })
  | { kind: 'unchanged'; instance: Instance }
  /** The plan changed between the caller's read and this decision: read again. */
  | { kind: 'stale' }

/** PATCH: nothing of the change is visible before the operation has succeeded (UPD-22, UPD-30). */
export function decideUpdate(snapshot: Snapshot, intent: UpdateIntent): Verdict<UpdateAnswer> {
  const { operation, now } = snapshot
  const instance = knownInstance(snapshot.instance, intent.platform)
  if (operation?.action === 'update' && operation.requestHash === intent.requestHash)
    return { answer: { kind: 'accepted', operation, instance, wait: waits(intent) } }
  if (operation !== undefined && operation.action !== 'observe') throw busy(operation, 'The instance')
  if (snapshot.busyBindings > 0) throw busy(undefined, 'A binding of the instance')
  if (!instance.created)
    throw new BrokerError('InstanceNotUsable', 'The instance was never created: delete it, or repeat its creation.')
  const movedOn =
    (intent.targetPlanId !== instance.planId && !intent.changesPlan) || intent.revisionId !== instance.revisionId
  if (movedOn || !sameJson(intent.mergedInto, instance.parameters)) return { answer: { kind: 'stale' } }

  const wait = waits(intent)
  checkMaintenance(intent.requestedMaintenance, intent.catalogMaintenance)
  const changesPlan = intent.changesPlan && intent.targetPlanId !== instance.planId
  if (changesPlan && !intent.planUpdateable)
    throw new BrokerError('PlanChangeNotSupported', 'The present plan of this instance cannot be changed.', {
      updateRepeatable: false,
    })
  const changesRevision = intent.targetRevisionId !== instance.revisionId
  const isChecked = intent.hasParameters || changesPlan || changesRevision
  const parameters = isChecked ? intent.parameters() : instance.parameters
  const changesMaintenance =
    intent.requestedMaintenance !== undefined && intent.requestedMaintenance !== instance.maintenanceVersion
  const changesContext = intent.context !== undefined && !sameJson(intent.context, instance.context)
  if (!changesPlan && !intent.hasParameters && !changesMaintenance && !(changesContext && intent.tellsContext)) {
    if (!changesContext || intent.context === undefined) return { answer: { kind: 'unchanged', instance } }
    const renamed: Instance = { ...instance, context: intent.context, updatedAt: now }
    return { answer: { kind: 'unchanged', instance: renamed }, change: { instance: renamed } }
  }
  if (!intent.updateable)
    throw new BrokerError('UpdateNotSupported', 'Instances of this service cannot be updated.', {
      updateRepeatable: false,
    })

  const afterSweeps = snapshot.sweptBindings > 0
  if (afterSweeps && wait) throw busy(undefined, 'A binding of the instance')
  const maintenanceVersion = changesPlan || changesMaintenance ? intent.catalogMaintenance : instance.maintenanceVersion
  const input: OperationInput = {
    planId: intent.targetPlanId,
    parameters,
    context: intent.context ?? instance.context,
    maintenanceVersion,
    revisionId: intent.targetRevisionId,
    dashboardUrl: intent.dashboardUrl,
    ...(afterSweeps && { afterSweeps }),
  }
  const { operation: accepted, written } = begin(intent, 'update', now, {
    input,
    old: operation,
  })
  const updating: Instance = {
    ...instance,
    phase: 'updating',
    nextRevisionId: (changesRevision ? intent.targetRevisionId : undefined) ?? instance.nextRevisionId,
    lastOperationId: accepted.id,
    updatedAt: now,
  }
  return {
    answer: { kind: 'accepted', operation: accepted, instance: updating, wait },
    change: { instance: updating, ...written },
  }
}

function sameJson(a: JsonObject, b: JsonObject): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
