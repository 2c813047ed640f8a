import { BrokerError } from '../protocol/errors.ts'
import type { Binding } from './binding.ts'
import type { Snapshot, Verdict } from './change.ts'
import { isKnown } from './instance.ts'
import type { DeletionAnswer, Intent } from './intent.ts'
import { begin, busy, force, undoUnbegun, waits } from './intent.ts'
import { isUnclean, observedAgain } from './interrupt.ts'
import { isLeft, serviceLeft } from './left-service.ts'

export interface UnbindIntent extends Intent {
  readonly bindingId: string
  readonly forceUnknown: boolean
}

/** DELETE on a binding id: takes over from a running bind, repeats a running unbind. */
export function decideUnbind(snapshot: Snapshot, intent: UnbindIntent): Verdict<DeletionAnswer> {
  const { instance, operation, binding, bindingOperation, now } = snapshot
  if (!isKnown(instance, intent.platform) || binding === undefined || binding.phase === 'deleted') {
    if (intent.forceUnknown) return force(intent, now, intent.bindingId)
    throw new BrokerError('BindingGone', 'There is no binding with this id.')
  }
  if (instance.serviceId !== intent.serviceId)
    throw new BrokerError('MalformedRequest', 'service_id is not the service of this binding.')
  if (bindingOperation?.action === 'unbind')
    return { answer: { kind: 'accepted', operation: bindingOperation, wait: waits(intent) } }
  const unbegun = undoUnbegun(bindingOperation, 'unbind', now)
  if (unbegun !== undefined) return unbegun
  if (operation !== undefined && operation.action !== 'observe') throw busy(operation, 'The instance')
  if (isLeft(instance, intent.unknownService)) throw serviceLeft(instance.serviceId, 'deletion')

  const wait = waits(intent)
  const unclean = isUnclean(binding, snapshot)
  // An observation looks at bindings that are ready: where another operation has this one, they do not meet.
  const observation = bindingOperation === undefined ? operation : undefined
  const more = { bindingId: intent.bindingId, unclean, old: bindingOperation ?? observation, planId: instance.planId }
  const { operation: accepted, written } = begin(intent, 'unbind', now, more)
  const deleting: Binding = { ...binding, phase: 'deleting', lastOperationId: accepted.id, updatedAt: now }
  return {
    answer: { kind: 'accepted', operation: accepted, wait },
    change: {
      instance: observation && observedAgain(instance, observation, now, intent),
      bindings: [deleting],
      ...written,
    },
  }
}
