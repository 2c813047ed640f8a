import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Binding } from './binding.ts'
import type { Snapshot, Verdict } from './change.ts'
import { knownInstance } from './instance.ts'
import type { Accepted, Intent } from './intent.ts'
import { begin, busy, quietAt, stillSwept, waits } from './intent.ts'
import { isLeft, serviceLeft } from './left-service.ts'

export interface BindIntent extends Intent {
  readonly bindingId: string
  readonly planId: string
  /** A rotation may leave it out. */
  readonly requestedPlanId?: string
  readonly bindable: boolean
  readonly rotatable: boolean
  readonly context: JsonObject
  readonly bindResource: JsonObject
  readonly appGuid?: string
  readonly requiresApp: boolean
  readonly parameters: () => JsonObject
  /** Set for a rotation: everything above that the request did not bring comes from this binding. */
  readonly predecessorId?: string
}

export type BindAnswer = (Accepted & { readonly binding: Binding }) | { kind: 'exists'; binding: Binding }

/** PUT on a binding id. Binds of one instance may run side by side; an operation of the instance excludes them. */
export function decideBind(snapshot: Snapshot, intent: BindIntent): Verdict<BindAnswer> {
  const { operation, binding, bindingOperation, now } = snapshot
  const instance = knownInstance(snapshot.instance, intent.platform)
  if (binding !== undefined && binding.phase !== 'deleted') {
    if (!isRepeated(binding, intent))
      throw new BrokerError(
        'BindingConflict',
        'A binding with this id exists, or is being created, with other attributes.',
      )
    if (bindingOperation?.action === 'bind')
      return { answer: { kind: 'accepted', operation: bindingOperation, binding, wait: waits(intent) } }
    if (bindingOperation === undefined && binding.phase === 'ready') return { answer: { kind: 'exists', binding } }
  }
  if (instance.serviceId !== intent.serviceId)
    throw new BrokerError('MalformedRequest', 'service_id is not the service of this instance.')
  if (isLeft(instance, intent.unknownService)) throw serviceLeft(instance.serviceId, 'new')
  if (!intent.bindable) throw new BrokerError('NotBindable', 'Instances of this plan cannot be bound.')
  if (intent.predecessorId !== undefined && !intent.rotatable)
    throw new BrokerError('NotRotatable', 'Bindings of this plan cannot be rotated.')
  const swept = bindingOperation?.action === 'sweep' ? { binding } : undefined
  if (bindingOperation !== undefined && swept === undefined) throw busy(bindingOperation, 'The binding')
  if (operation !== undefined && operation.action !== 'observe') throw busy(operation, 'The instance')
  if (instance.planId !== intent.planId)
    throw new BrokerError('MalformedRequest', 'plan_id is not the plan of this instance.')
  if (!instance.usable)
    throw new BrokerError('InstanceNotUsable', 'The instance is not usable: repair it with an update, or delete it.')
  if (intent.predecessorId !== undefined) checkPredecessor(snapshot.predecessor, now)

  const wait = waits(intent)
  const notBefore = swept === undefined ? quietAt(binding, now) : undefined
  if ((swept !== undefined || notBefore !== undefined) && wait) throw stillSwept('binding')
  const parameters = intent.parameters()
  if (intent.requiresApp && intent.appGuid === undefined)
    throw new BrokerError('RequiresApp', 'This service binds applications only: send bind_resource.app_guid.')

  const begun = begin(intent, 'bind', now, { bindingId: intent.bindingId, old: bindingOperation, swept, notBefore })
  const creating: Binding = {
    instanceId: intent.instanceId,
    id: intent.bindingId,
    serviceId: intent.serviceId,
    planId: intent.planId,
    phase: 'creating',
    requestHash: intent.requestHash,
    context: intent.context,
    bindResource: intent.bindResource,
    appGuid: intent.appGuid,
    parameters,
    state: binding?.phase === 'failed' ? binding.state : {},
    result: {},
    predecessorId: intent.predecessorId,
    uncleanUntil: binding?.uncleanUntil,
    lastOperationId: begun.operation.id,
    createdAt: binding?.phase === 'failed' ? binding.createdAt : now,
    updatedAt: now,
  }
  return {
    answer: { kind: 'accepted', operation: begun.operation, binding: creating, wait },
    change: { bindings: [creating], ...begun.written },
  }
}

/** The hash of a rotation knows no service and no plan: it may name them, and then they must be those of the binding. */
function isRepeated(
  binding: Binding,
  { requestHash, serviceId, requestedPlanId = binding.planId }: BindIntent,
): boolean {
  return binding.requestHash === requestHash && binding.serviceId === serviceId && binding.planId === requestedPlanId
}

/** ROT-04, ROT-09: a predecessor belongs to the same instance, is ready, and has not expired. */
function checkPredecessor(predecessor: Binding | undefined, now: number): void {
  if (predecessor === undefined || predecessor.phase === 'deleted' || predecessor.phase === 'failed')
    throw new BrokerError('UnknownPredecessor', 'predecessor_binding_id is not a binding of this instance.')
  if (predecessor.phase !== 'ready')
    throw new BrokerError('ConcurrencyError', 'The predecessor binding is being created or deleted. Repeat later.')
  if (predecessor.expiresAt !== undefined && predecessor.expiresAt <= now)
    throw new BrokerError('UnknownPredecessor', 'The predecessor binding has expired: create a new binding instead.')
}
