import { BrokerError } from '../protocol/errors.ts'
import { count } from '../shape/count.ts'
import type { Snapshot, Verdict } from './change.ts'
import { type Instance, isKnown } from './instance.ts'
import type { DeletionAnswer, Intent } from './intent.ts'
import { begin, busy, force, undoUnbegun, waits } from './intent.ts'
import { isLeft, serviceLeft } from './left-service.ts'

export interface DeprovisionIntent extends Intent {
  /** Live bindings are unbound first instead of refusing the request. */
  readonly cascade: boolean
  /** An unknown instance counts as deleted. */
  readonly forceUnknown: boolean
}

/**
 * DELETE: takes over from a running creation or update, repeats a running deletion, needs the bindings gone. Sweeps of
 * bindings are our own business and refuse nothing: the operation is accepted, and its worker waits for their end.
 */
export function decideDeprovision(snapshot: Snapshot, intent: DeprovisionIntent): Verdict<DeletionAnswer> {
  const { instance, operation, now } = snapshot
  if (!isKnown(instance, intent.platform)) {
    if (intent.forceUnknown) return force(intent, now)
    throw new BrokerError('InstanceGone', 'There is no instance with this id.')
  }
  if (instance.serviceId !== intent.serviceId)
    throw new BrokerError('MalformedRequest', 'service_id is not the service of this instance.')
  if (operation?.action === 'deprovision') return { answer: { kind: 'accepted', operation, wait: waits(intent) } }
  const unbegun = undoUnbegun(operation, 'deprovision', now)
  if (unbegun !== undefined) return unbegun
  if (snapshot.busyBindings > 0) throw busy(undefined, 'A binding of the instance')
  if (snapshot.liveBindings > 0 && !intent.cascade)
    throw new BrokerError(
      'BindingsExist',
      `The instance still has ${count(snapshot.liveBindings, 'binding')}: delete them first. Nothing was changed.`,
    )
  if (isLeft(instance, intent.unknownService)) throw serviceLeft(instance.serviceId, 'deletion')
  const wait = waits(intent)
  const unclean = (instance.uncleanUntil ?? 0) > now
  const afterSweeps = snapshot.sweptBindings > 0
  const more = { unclean, old: operation, input: afterSweeps ? { afterSweeps } : {}, planId: instance.planId }
  const { operation: accepted, written } = begin(intent, 'deprovision', now, more)
  const deleting: Instance = {
    ...instance,
    phase: 'deleting',
    observeAt: undefined,
    lastOperationId: accepted.id,
    updatedAt: now,
  }
  return { answer: { kind: 'accepted', operation: accepted, wait }, change: { instance: deleting, ...written } }
}
