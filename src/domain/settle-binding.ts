import type { Binding } from './binding.ts'
import type { Change, Snapshot } from './change.ts'
import { mergePatch } from './merge-patch.ts'
import type { Operation } from './operation.ts'
import type { Outcome, SettlePolicy } from './outcome.ts'
import { deletedBinding } from './settle-instance.ts'
import { sweepAfter } from './sweep.ts'

export function settleBinding(
  snapshot: Snapshot & { readonly finishing: Operation },
  outcome: Outcome,
  policy: SettlePolicy,
): Change {
  const { binding } = snapshot
  if (binding === undefined) return {}
  return { ...withInstance(snapshot, outcome), ...settled(snapshot, binding, outcome, policy) }
}

/** Binds of one instance may end side by side: each patch is merged under the instance's lock. */
function withInstance({ instance, now }: Snapshot, outcome: Outcome): Pick<Change, 'instance'> {
  const patch = outcome.kind === 'succeeded' ? outcome.result.instanceState : undefined
  if (instance === undefined || instance.phase === 'deleted' || patch === undefined) return {}
  return { instance: { ...instance, state: mergePatch(instance.state, patch), updatedAt: now } }
}

function settled(
  { finishing, now }: Snapshot & { readonly finishing: Operation },
  binding: Binding,
  outcome: Outcome,
  policy: SettlePolicy,
): Change {
  const touched: Binding = {
    ...binding,
    updatedAt: now,
    ...(finishing.unclean ? { uncleanUntil: now + policy.sweepDelay } : {}),
  }
  if (finishing.action === 'bind') return { bindings: [settleBind(touched, finishing, outcome, now)] }
  if (outcome.kind === 'failed')
    return finishing.action === 'sweep' ? {} : { bindings: [{ ...touched, phase: 'failed' }] }
  const sweep = sweepAfter(finishing, now, policy)
  return {
    bindings: [deletedBinding(touched, now, sweep !== undefined)],
    operations: sweep === undefined ? [] : [sweep],
  }
}

function settleBind(binding: Binding, operation: Operation, outcome: Outcome, now: number): Binding {
  if (outcome.kind === 'failed') {
    const nothingDone = outcome.error.status !== undefined && binding.createdAt === operation.acceptedAt
    return nothingDone ? deletedBinding(binding, now, false) : { ...binding, phase: 'failed' }
  }
  const { result } = outcome
  return {
    ...binding,
    phase: 'ready',
    state: result.state ?? binding.state,
    result: result.binding ?? {},
    expiresAt: result.expiresAt,
  }
}
