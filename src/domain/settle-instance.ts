import type { Binding } from './binding.ts'
import type { Change, Snapshot } from './change.ts'
import { withoutObservation } from './decide-deprovision.ts'
import type { Instance } from './instance.ts'
import { findCondition } from './instance.ts'
import type { Operation, OperationError } from './operation.ts'
import type { ActionResult, Outcome, SettlePolicy } from './outcome.ts'
import { condition } from './outcome.ts'
import { sweepAfter } from './sweep.ts'

export function settleInstance(
  snapshot: Snapshot & { readonly finishing: Operation },
  outcome: Outcome,
  policy: SettlePolicy,
): Change {
  const { finishing, instance, now } = snapshot
  if (instance === undefined) return {}
  const touched = withUnclean({ ...instance, updatedAt: now }, finishing, now, policy)
  if (finishing.action === 'deprovision' || finishing.action === 'sweep')
    return outcome.kind === 'succeeded'
      ? removed(touched, outcome.result, { finishing, now, policy })
      : { instance: failedDeletion(touched, finishing, outcome.error) }
  if (outcome.kind === 'succeeded')
    return { instance: observed(ready(touched, finishing, outcome.result, now), policy) }
  return { instance: failed(touched, outcome.error, { finishing, now, policy }) }
}

/** Provision and update: from here on the operation's input is what the instance is. */
function ready(instance: Instance, operation: Operation, result: ActionResult, now: number): Instance {
  const { input } = operation
  const { maintenanceVersion, nextRevisionId: _, ...rest } = instance
  return {
    ...rest,
    phase: 'ready',
    created: true,
    usable: true,
    planId: input.planId ?? instance.planId,
    parameters: input.parameters ?? instance.parameters,
    context: input.context ?? instance.context,
    // An update may lead to a plan that has none.
    ...optional('maintenanceVersion', operation.action === 'update' ? input.maintenanceVersion : maintenanceVersion),
    ...optional('revisionId', input.revisionId ?? instance.revisionId),
    state: result.state ?? instance.state,
    ...optional('dashboardUrl', result.dashboardUrl ?? input.dashboardUrl ?? instance.dashboardUrl),
    ...optional('metadata', result.metadata ?? instance.metadata),
    conditions: [condition('Ready', true, { now, before: findCondition(instance, 'Ready') })],
  }
}

/** The operation that ends, and what its end depends on. */
interface End {
  readonly finishing: Operation
  readonly now: number
  readonly policy: SettlePolicy
}

function failed(instance: Instance, error: OperationError, { finishing: operation, now, policy }: End): Instance {
  // Refused before anything was done, by this attempt or an earlier one: there is nothing to clean up and nothing to keep.
  if (operation.action === 'provision' && error.status !== undefined && instance.createdAt === operation.acceptedAt)
    return tombstone(instance, now)
  const usable = operation.action === 'update' && (error.instanceUsable ?? instance.usable)
  const { nextRevisionId: _, ...rest } = instance
  return observed({ ...rest, usable, phase: usable ? 'ready' : 'failed' }, policy)
}

/** The instance is as usable as it was, unless the author knows better; the platform deletes it again. */
function failedDeletion(instance: Instance, operation: Operation, error: OperationError): Instance {
  if (operation.action === 'sweep') return instance
  const usable = error.instanceUsable ?? instance.usable
  return { ...instance, usable, phase: usable ? 'ready' : 'failed' }
}

function removed(instance: Instance, result: ActionResult, { finishing: operation, now, policy }: End): Change {
  const { unbound = [] } = result
  const begun = operation.acceptedAt + (operation.action === 'sweep' ? policy.sweepDelay : 0)
  // A call of their bind may have landed since they were unbound: the sweep unbinds them again.
  const unclean = unbound.filter(({ uncleanUntil = 0 }) => uncleanUntil > begun)
  const sweep = sweepAfter(
    operation,
    now,
    policy,
    unclean.map(({ id }) => id),
  )
  const gone = tombstone(instance, operation.action === 'sweep' ? (instance.deletedAt ?? now) : now)
  return {
    // The sweep runs the author's deprovision once more and needs the state, and the revision, for it.
    instance:
      sweep === undefined
        ? gone
        : {
            ...gone,
            state: instance.state,
            parameters: instance.parameters,
            ...optional('revisionId', instance.revisionId),
          },
    // All of them go now, even if the sweep fails later: a new instance with the same id must not find them.
    bindings: unbound.map(binding => deletedBinding(binding, now, unclean.includes(binding))),
    operations: sweep === undefined ? [] : [sweep],
  }
}

function tombstone(instance: Instance, deletedAt: number): Instance {
  const { revisionId: _, nextRevisionId: __, ...rest } = withoutObservation(instance)
  return {
    ...rest,
    phase: 'deleted',
    usable: false,
    parameters: {},
    state: {},
    conditions: [],
    deletedAt,
  }
}

/** A sweep runs the author's unbind once more and needs the state for it. */
export function deletedBinding(binding: Binding, now: number, isSwept: boolean): Binding {
  const { state, parameters, deletedAt = now } = binding
  const kept = isSwept ? { state, parameters } : { state: {}, parameters: {} }
  return { ...binding, ...kept, phase: 'deleted', result: {}, updatedAt: now, deletedAt }
}

function observed(instance: Instance, policy: SettlePolicy): Instance {
  return policy.observeAt === undefined ? instance : { ...instance, observeAt: policy.observeAt }
}

function withUnclean(instance: Instance, operation: Operation, now: number, policy: SettlePolicy): Instance {
  return operation.unclean ? { ...instance, uncleanUntil: now + policy.sweepDelay } : instance
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V })
}
