import type { Binding } from './binding.ts'
import type { Change, Finishing, Snapshot } from './change.ts'
import { firstNotice } from './expiry.ts'
import type { Instance } from './instance.ts'
import { mergePatch } from './merge-patch.ts'
import type { Operation } from './operation.ts'
import type { Outcome, SettlePolicy } from './outcome.ts'
import { deletedBinding } from './settle-instance.ts'
import { sweepAfter } from './sweep.ts'

export function settleBinding(snapshot: Finishing, outcome: Outcome, policy: SettlePolicy): Change {
  const { finishing, binding, now } = snapshot
  if (binding === undefined) return {}
  const uncleanUntil = finishing.unclean ? now + policy.sweepDelay : binding.uncleanUntil
  const touched = { ...binding, updatedAt: now, uncleanUntil }
  const instance = withPatch(snapshot, outcome)
  if (finishing.action === 'bind') return { instance, bindings: [settleBind(touched, finishing, outcome, now)] }
  if (outcome.kind === 'failed')
    return { instance, bindings: [finishing.action === 'sweep' ? touched : { ...touched, phase: 'failed' }] }
  const sweep = sweepAfter(finishing, now, policy)
  const deprovision = sweep === undefined ? undefined : waitingFor(snapshot)
  if (deprovision !== undefined)
    return {
      instance,
      bindings: [deletedBinding(touched, now, false)],
      operations: [{ ...deprovision, unclean: true }],
    }
  return {
    instance,
    bindings: [deletedBinding(touched, now, sweep !== undefined)],
    operations: sweep === undefined ? [] : [sweep],
  }
}

/**
 * The deprovision that waits for a sweep to end. Where that sweep lost a call itself, it is not swept once more, which could
 * go on for as long as calls get lost: the deprovision begins, and its own sweep outlasts that call.
 */
function waitingFor({ finishing, operation }: Finishing): Operation | undefined {
  return finishing.action === 'sweep' && operation?.action === 'deprovision' ? operation : undefined
}

/** Binds of one instance may end side by side: each patch is merged under the instance's lock. */
function withPatch({ instance, now }: Snapshot, outcome: Outcome): Instance | undefined {
  const patch = outcome.kind === 'succeeded' ? outcome.result.instanceState : undefined
  if (instance === undefined || instance.phase === 'deleted' || patch === undefined) return undefined
  return { ...instance, state: mergePatch(instance.state, patch), updatedAt: now }
}

function settleBind(binding: Binding, operation: Operation, outcome: Outcome, now: number): Binding {
  if (outcome.kind === 'failed') {
    const nothingDone = outcome.error.status !== undefined && binding.createdAt === operation.acceptedAt
    return nothingDone ? deletedBinding(binding, now, false) : { ...binding, phase: 'failed' }
  }
  const { result } = outcome
  const { expiresAt, renewBefore } = result
  return {
    ...binding,
    phase: 'ready',
    state: result.state ?? binding.state,
    result: result.binding ?? {},
    expiresAt,
    renewBefore,
    noticeAt: firstNotice({ expiresAt, renewBefore }),
  }
}
