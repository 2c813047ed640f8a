import { BrokerError } from '../protocol/errors.ts'
import type { Binding } from './binding.ts'
import type { Snapshot, Verdict } from './change.ts'
import type { Accepted, Intent } from './intent.ts'
import { busy, historyOf, newOperation, supersede, waits } from './intent.ts'

export interface UnbindIntent extends Intent {
  readonly bindingId: string
  readonly forceUnknown: boolean
}

export type UnbindAnswer = Accepted | { kind: 'forced' }

/** DELETE on a binding id: takes over from a running bind, repeats a running unbind. */
export function decideUnbind(snapshot: Snapshot, intent: UnbindIntent): Verdict<UnbindAnswer> {
  const { instance, operation, binding, bindingOperation, now } = snapshot
  const known = instance !== undefined && instance.platform === intent.platform && instance.phase !== 'deleted'
  if (!known || binding === undefined || binding.phase === 'deleted') {
    if (!intent.forceUnknown) throw new BrokerError('BindingGone', 'There is no binding with this id.')
    return {
      answer: { kind: 'forced' },
      change: {
        history: [
          {
            at: now,
            type: 'forced',
            instanceId: intent.instanceId,
            bindingId: intent.bindingId,
            platform: intent.platform,
          },
        ],
      },
    }
  }
  if (instance.serviceId !== intent.serviceId)
    throw new BrokerError('MalformedRequest', 'service_id is not the service of this binding.')
  if (bindingOperation?.action === 'unbind')
    return { answer: { kind: 'accepted', operation: bindingOperation, wait: waits(intent) } }
  if (operation !== undefined && operation.action !== 'observe') throw busy(operation, 'The instance')

  const wait = waits(intent)
  const unclean = (binding.uncleanUntil ?? 0) > now
  const queued = newOperation(intent, 'unbind', now, { bindingId: intent.bindingId, unclean })
  const operations = bindingOperation === undefined ? [queued] : supersede(bindingOperation, queued, now)
  const accepted = operations.at(-1) ?? queued
  const deleting: Binding = { ...binding, phase: 'deleting', lastOperationId: accepted.id, updatedAt: now }
  return {
    answer: { kind: 'accepted', operation: accepted, wait },
    change: {
      bindings: [deleting],
      operations,
      history: [
        ...(bindingOperation === undefined ? [] : [historyOf(bindingOperation, 'superseded', now)]),
        historyOf(accepted, 'accepted', now, { platform: intent.platform }),
      ],
    },
  }
}
