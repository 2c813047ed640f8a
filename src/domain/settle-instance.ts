import type { Binding } from './binding.ts'
import type { Change, Finishing } from './change.ts'
import { conditionAt, type Instance } from './instance.ts'
import { drainedAt } from './interrupt.ts'
import type { Operation, OperationError } from './operation.ts'
import type { ActionResult, Outcome, SettlePolicy } from './outcome.ts'
import { sweepAfter } from './sweep.ts'

export function settleInstance(snapshot: Finishing, outcome: Outcome, policy: SettlePolicy): Change {
  const { finishing, instance, now } = snapshot
  if (instance === undefined) return {}
  const end = { finishing, now, policy }
  const uncleanUntil = finishing.unclean ? now + policy.sweepDelay : instance.uncleanUntil
  const touched = { ...instance, updatedAt: now, uncleanUntil, drains: drainedAt(instance, now) }
  if (finishing.action === 'deprovision' || finishing.action === 'sweep')
    return outcome.kind === 'succeeded'
      ? removed(touched, outcome.result, end)
      : { instance: failedDeletion(touched, finishing, outcome.error) }
  if (outcome.kind === 'succeeded') return { instance: ready(touched, outcome.result, end) }
  return { instance: failed(touched, outcome.error, end) }
}

/** The operation that ends, and what its end depends on. */
interface End {
  readonly finishing: Operation
  readonly now: number
  readonly policy: SettlePolicy
}

/** Provision and update: from here on the operation's input is what the instance is. */
function ready(instance: Instance, result: ActionResult, { finishing, now, policy }: End): Instance {
  const { action, input } = finishing
  return {
    ...instance,
    phase: 'ready',
    created: true,
    usable: true,
    planId: input.planId ?? instance.planId,
    parameters: input.parameters ?? instance.parameters,
    context: input.context ?? instance.context,
    // An update may lead to a plan that has none.
    maintenanceVersion: action === 'update' ? input.maintenanceVersion : instance.maintenanceVersion,
    revisionId: input.revisionId ?? instance.revisionId,
    nextRevisionId: undefined,
    state: result.state ?? instance.state,
    dashboardUrl: result.dashboardUrl ?? input.dashboardUrl ?? instance.dashboardUrl,
    metadata: result.metadata ?? instance.metadata,
    conditions: [conditionAt(now, instance, { type: 'Ready', status: true })],
    observeAt: policy.observeAt ?? instance.observeAt,
  }
}

function failed(instance: Instance, error: OperationError, { finishing, now, policy }: End): Instance {
  // Refused before anything was done, by this attempt or an earlier one: there is nothing to clean up and nothing to keep.
  if (finishing.action === 'provision' && error.status !== undefined && instance.createdAt === finishing.acceptedAt)
    return tombstone(instance, now)
  const usable = finishing.action === 'update' && (error.instanceUsable ?? instance.usable)
  return {
    ...instance,
    phase: usable ? 'ready' : 'failed',
    usable,
    nextRevisionId: undefined,
    observeAt: policy.observeAt ?? instance.observeAt,
  }
}

/** The instance is as usable as it was, unless the author knows better; the platform deletes it again. */
function failedDeletion(instance: Instance, operation: Operation, error: OperationError): Instance {
  if (operation.action === 'sweep') return instance
  const usable = error.instanceUsable ?? instance.usable
  return { ...instance, usable, phase: usable ? 'ready' : 'failed' }
}

function removed(instance: Instance, { unbound = [] }: ActionResult, { finishing, now, policy }: End): Change {
  const isSweep = finishing.action === 'sweep'
  const begun = finishing.acceptedAt + (isSweep ? policy.sweepDelay : 0)
  // A call of their bind, or of an observation, may have landed since they were unbound: the sweep unbinds them again.
  const unclean = unbound.filter(({ uncleanUntil = 0 }) => finishing.unclean || uncleanUntil > begun)
  const unbind = unclean.map(({ id }) => id)
  const sweep = sweepAfter(finishing, now, policy, unbind)
  const gone = tombstone(instance, isSweep ? (instance.deletedAt ?? now) : now)
  // The sweep runs the author's deprovision once more and needs the state, and the revision, for it.
  const { state, parameters, revisionId } = instance
  return {
    instance: sweep === undefined ? gone : { ...gone, state, parameters, revisionId },
    // All of them go now, even if the sweep fails later: a new instance with the same id must not find them.
    bindings: unbound.map(binding => deletedBinding(binding, now, unclean.includes(binding))),
    operations: sweep === undefined ? [] : [sweep],
  }
}

export function tombstone(instance: Instance, deletedAt: number): Instance {
  const cleared = { revisionId: undefined, nextRevisionId: undefined, observeAt: undefined }
  const emptied = { parameters: {}, state: {}, conditions: [] }
  return { ...instance, ...cleared, ...emptied, phase: 'deleted', usable: false, deletedAt }
}

/** A sweep runs the author's unbind once more and needs the state for it. */
export function deletedBinding(binding: Binding, now: number, isSwept: boolean): Binding {
  const { state, parameters, deletedAt = now } = binding
  const kept = isSwept ? { state, parameters } : { state: {}, parameters: {} }
  return { ...binding, ...kept, phase: 'deleted', result: {}, updatedAt: now, deletedAt }
}
