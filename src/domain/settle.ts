import type { Change, Finishing } from './change.ts'
import { historyOf } from './intent.ts'
import type { Operation } from './operation.ts'
import { nextState } from './operation.ts'
import type { Outcome, SettlePolicy } from './outcome.ts'
import { settleBinding } from './settle-binding.ts'
import { settleInstance } from './settle-instance.ts'
import { settleObservation } from './settle-observation.ts'
import { undo, withoutSweep } from './sweep-first.ts'

/**
 * The end of an operation: its result and what it means for the resource, as one change. Pure, so that the same outcome
 * always leaves the same rows; the store applies it only while the lease is held.
 */
export function settle(snapshot: Finishing, outcome: Outcome, policy: SettlePolicy): Change {
  if (policy.lateCalls === false && snapshot.finishing.unclean)
    return settle({ ...snapshot, finishing: { ...snapshot.finishing, unclean: false } }, outcome, policy)
  const { finishing, now } = snapshot
  if (finishing.action === 'observe') return settleObservation(snapshot, outcome, policy)
  const ended = end(withoutSweep(finishing), outcome, now)
  const resource = settleUnbegun(snapshot) ?? settleResource(snapshot, outcome, policy)
  const { operations = [] } = resource
  const history = historyOf(ended, outcome.kind, now, { message: ended.error?.message })
  return { ...resource, operations: [ended, ...operations], history: [history] }
}

function settleResource(snapshot: Finishing, outcome: Outcome, policy: SettlePolicy): Change {
  const isInstance = snapshot.finishing.bindingId === undefined
  return isInstance ? settleInstance(snapshot, outcome, policy) : settleBinding(snapshot, outcome, policy)
}

/** A creation whose time was up before the sweep that it had to do first was over: it can only have failed. */
function settleUnbegun({ finishing, now }: Finishing): Change | undefined {
  const first = finishing.input.sweepFirst
  if (first === undefined) return undefined
  // Nobody holds it any more, and whether a call of the sweep may still land is known by now.
  const { sweep, instance, bindings } = undo({ ...finishing, state: 'queued', attempt: 0 }, first)
  const last = { lastOperationId: finishing.id, updatedAt: now }
  return {
    instance: instance && { ...instance, ...last },
    bindings: bindings?.map(binding => ({ ...binding, ...last })),
    operations: [sweep],
  }
}

function end(operation: Operation, outcome: Outcome, now: number): Operation {
  const ended = { hold: undefined, leaseOwner: undefined, leaseUntil: undefined, finishedAt: now }
  if (outcome.kind === 'succeeded')
    return { ...operation, ...ended, state: nextState(operation.state, 'succeed'), description: outcome.result.message }
  const { error } = outcome
  return { ...operation, ...ended, state: nextState(operation.state, 'fail'), description: error.message, error }
}
