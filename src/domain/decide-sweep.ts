import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Binding } from './binding.ts'
import type { Change, Snapshot, Verdict } from './change.ts'
import type { Instance } from './instance.ts'
import { busy, type OperationIntent } from './intent.ts'
import type { Operation } from './operation.ts'
import { type Acting, acted } from './operator.ts'
import { newSweep } from './sweep.ts'

/** What a backend was found to hold of something deleted. */
export interface FoundAgain {
  readonly state: JsonObject
  readonly revisionId?: string | undefined
}

export interface SweepIntent extends Acting {
  readonly intent: OperationIntent
  /** What is swept is this binding of the instance, and not the instance. */
  readonly bindingId?: string
  /** Bindings that went with the instance in doubt: each is unbound once more, before the instance. */
  readonly unbind: readonly Binding[]
  /** Somebody here can delete it. */
  readonly possible: boolean
  readonly found?: FoundAgain | undefined
}

/**
 * An operator has what is deleted deleted once more: after a sweep that failed for good, or because something was found of it.
 * It is a sweep as any other, so whatever is asked for under the same id meanwhile waits for it. What is not deleted is left
 * alone: the platform would not hear of its end.
 */
export function decideSweep(snapshot: Snapshot, sweeping: SweepIntent): Verdict<Operation> {
  const { bindingId, unbind, possible } = sweeping
  const { now, instance } = snapshot
  if (instance === undefined) throw new BrokerError('InstanceNotFound', 'There is no instance with this id.')
  const row = bindingId === undefined ? deletedInstance(snapshot, instance) : deletedOf(snapshot, instance)
  if (!possible)
    throw new BrokerError(
      'VerbRefused',
      'Nothing here can delete it: its service is not in the code of this broker, and no revision is kept for it.',
    )
  // No call of before lands any later, so this sweep leaves no doubt of theirs.
  const quiet = [row, ...unbind].map(({ uncleanUntil = now }) => uncleanUntil)
  const { planId, platform } = instance
  const begun = newSweep(
    { ...sweeping.intent, planId, platform },
    { now, due: Math.max(now, ...quiet), bindingId, unbind: unbind.map(({ id }) => id) },
  )
  const { phase } = row
  const about = { at: now, instanceId: instance.id, bindingId, operationId: begun.id, action: 'sweep' }
  const event = acted('sweep', sweeping, { ...about, before: { phase }, after: { phase } })
  return { answer: begun, change: { ...restored(row, sweeping.found), operations: [begun], history: [event] } }
}

/** The state went with what was deleted. A row that has kept its own, after a sweep that failed, knows more than the backend. */
function restored(
  row: Instance | Binding,
  found: FoundAgain | undefined,
): Partial<Pick<Change, 'instance' | 'bindings'>> {
  if (found === undefined || Object.keys(row.state).length > 0) return {}
  return 'instanceId' in row ? { bindings: [{ ...row, state: found.state }] } : { instance: { ...row, ...found } }
}

function deletedInstance({ operation }: Snapshot, instance: Instance): Instance {
  if (instance.phase !== 'deleted') throw notDeleted('instance')
  if (operation !== undefined) throw isSwept(operation)
  return instance
}

/** A deprovision, or an update, knows of the sweeps that were there when it was accepted, and must find no other. */
function deletedOf({ binding, bindingOperation, operation }: Snapshot, instance: Instance): Binding {
  if (binding === undefined) throw new BrokerError('BindingNotFound', 'The instance has no binding with this id.')
  if (binding.phase !== 'deleted') throw notDeleted('binding')
  if (bindingOperation !== undefined) throw isSwept(bindingOperation)
  if (instance.phase === 'deleted')
    throw new BrokerError('VerbRefused', 'The instance of the binding has been deleted, too: sweep the instance.')
  if (operation !== undefined && operation.action !== 'observe') throw busy(operation, 'The instance')
  return binding
}

function notDeleted(what: 'instance' | 'binding'): BrokerError {
  return new BrokerError(
    'VerbRefused',
    `The ${what} is not deleted, and a sweep is a deletion once more. If its deletion has failed, retry that operation.`,
  )
}

function isSwept({ id }: Operation): BrokerError {
  return new BrokerError('VerbRefused', `It is being swept: see the operation ${id}.`)
}
