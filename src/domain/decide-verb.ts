import type { Binding } from './binding.ts'
import type { Change, HistoryEvent, Snapshot, Verdict } from './change.ts'
import { heldAt } from './hold.ts'
import type { Instance } from './instance.ts'
import { begin, type Intent, superseded } from './intent.ts'
import { interrupted, isUnclean, observedAgain } from './interrupt.ts'
import { allowed, type OperationVerb } from './judge-verb.ts'
import { isHeld, nextState, type Operation, type OperationInput } from './operation.ts'
import { type Acting, acted } from './operator.ts'

export interface VerbIntent extends Acting {
  /** As it was read before. */
  readonly operation: Operation
  /** Whether a deprovision takes live bindings along. */
  readonly cascade: boolean
}

/** An operation that is parked is due now. */
export function decideRunNow(snapshot: Snapshot, intent: VerbIntent): Verdict<Operation> {
  const before = allowed('run-now', intent.operation, snapshot, intent)
  const { now } = snapshot
  const after = { ...before, notBefore: now, adminTraceparent: intent.traceparent ?? before.adminTraceparent }
  const event = changed('run-now', intent, { at: now, before, after })
  return { answer: after, change: { operations: [after], history: [event] } }
}

/**
 * Ends an operation as failed. The engine does it, as at a deadline: hooks hear of it, and the resource becomes what it becomes
 * after any failure. A holder loses its lease here, and the operation is due when that would have been over: until then a call
 * may begin, and the platform must not be told to go on before.
 */
export function decideFail(
  snapshot: Snapshot,
  intent: VerbIntent & { readonly message: string },
  verb: 'fail' | 'cancel' = 'fail',
): Verdict<Operation> {
  const before = allowed(verb, intent.operation, snapshot, intent)
  const { now } = snapshot
  const { state, attempt, leaseUntil = now, notBefore } = before
  const waits = attempt === 0 && !isHeld(before)
  const isRunning = state === 'running'
  const after: Operation = {
    ...before,
    state: isRunning ? nextState(state, 'park') : state,
    leaseOwner: undefined,
    leaseUntil: undefined,
    unclean: before.unclean || isRunning,
    // What has not begun may wait for the holder of what it took over from.
    notBefore: isRunning ? Math.max(now, leaseUntil) : waits ? notBefore : now,
    hold: undefined,
    // For replicas of the release before, which know nothing of `error`.
    deadlineAt: Math.min(before.deadlineAt, now),
    error: { message: intent.message },
    adminTraceparent: intent.traceparent ?? before.adminTraceparent,
    description: 'ended by an operator of the broker',
  }
  const event = changed(verb, intent, { at: now, before, after, message: intent.message })
  return { answer: after, change: { operations: [after], history: [event] } }
}

/**
 * Nobody runs it from now on: it is due at its deadline, when it fails. What it drains is over by now, and the holder before must
 * not make it due by handing back late.
 */
export function decideHold(snapshot: Snapshot, intent: VerbIntent): Verdict<Operation> {
  const before = allowed('hold', intent.operation, snapshot, intent)
  const { now } = snapshot
  const description = 'held by an operator of the broker'
  const after = { ...before, ...heldAt(before, now, { by: intent.by }), drains: undefined, description }
  const event = changed('hold', intent, { at: now, before, after })
  return { answer: after, change: { operations: [after], history: [event] } }
}

/** It goes on where it was, with all of its retries. Its deadline stays: the platform polls no longer than before. */
export function decideRelease(
  snapshot: Snapshot,
  intent: VerbIntent,
  verb: 'release' | 'retry' = 'release',
): Verdict<Operation> {
  const before = allowed(verb, intent.operation, snapshot, intent)
  const { now } = snapshot
  // Later than the beginning of every step that has failed, also within one millisecond.
  const at = Math.max(now, (before.checkpointAt ?? before.acceptedAt) + 1)
  const after: Operation = {
    ...before,
    hold: undefined,
    released: { at, times: (before.released?.times ?? 0) + 1 },
    checkpointAt: at,
    notBefore: now,
    adminTraceparent: intent.traceparent ?? before.adminTraceparent,
    description: 'released by an operator of the broker',
  }
  const event = changed(verb, intent, { at: now, before, after })
  return { answer: after, change: { operations: [after], history: [event] } }
}

/** An observation that is given up: the next one comes by itself. */
export function decideCancelObservation(
  snapshot: Snapshot,
  intent: VerbIntent & Pick<Intent, 'landsWithin'>,
): Verdict<Operation> {
  const before = allowed('cancel', intent.operation, snapshot, intent)
  const { instance, now } = snapshot
  const after = superseded(before, 'an operator', now)
  const event = changed('cancel', intent, { at: now, before, after })
  const left = instance && interrupted(instance, before, now, intent.landsWithin)
  return { answer: after, change: { instance: left, operations: [after], history: [event] } }
}

/** Adds the operator's line to what a deletion of the platform would have written. */
export function cancelled<Answer>(verdict: Verdict<Answer>, before: Operation, acting: Acting): Verdict<Answer> {
  const after = verdict.change?.operations?.find(({ id }) => id === before.id)
  if (verdict.change === undefined || after?.finishedAt === undefined) return verdict
  const event = changed('cancel', acting, { at: after.finishedAt, before, after })
  return { ...verdict, change: { ...verdict.change, history: [event, ...(verdict.change.history ?? [])] } }
}

export interface RetryIntent extends VerbIntent {
  /** What the new operation is made of. */
  readonly begin: Intent
}

/**
 * Tries a failed operation again, as a new one: the result of the first never changes. The new one begins with the steps that were
 * done. A bundle begins from its beginning, since its steps name sandboxes, which belong to one operation.
 */
export function decideRetry(snapshot: Snapshot, intent: RetryIntent): Verdict<Operation> {
  const failed = allowed('retry', intent.operation, snapshot, intent)
  const { now, instance, operation: observation } = snapshot
  const { bindingId, action } = failed
  const isDeletion = action === 'deprovision' || action === 'unbind'
  // A call of before may have made again what a step of a deletion in doubt had removed.
  const isTrue = !isDeletion || !failed.unclean
  const unclean =
    isDeletion && (snapshot.binding ? isUnclean(snapshot.binding, snapshot) : (instance?.uncleanUntil ?? 0) > now)
  const wanted = { ...intent.begin, requestHash: failed.requestHash ?? '', identity: failed.identity }
  const old = bindingId === undefined || action === 'unbind' ? observation : undefined
  const more = { bindingId, unclean, old, input: inputOf(failed, snapshot), planId: instance?.planId }
  const { operation, written } = begin(wanted, action, now, more)
  const begun: Operation = { ...operation, retryOf: failed.id }
  const isMet = bindingId !== undefined && old !== undefined && instance !== undefined
  return {
    answer: begun,
    change: {
      ...resourceOf(snapshot, begun),
      ...(isMet && { instance: observedAgain(instance, old, now, intent.begin) }),
      operations: written.operations.map(each => (each === operation ? begun : each)),
      copySteps: instance?.revisionId === undefined && isTrue ? { from: failed.id, to: begun.id } : undefined,
      history: [changed('retry', intent, { at: now, before: failed, after: begun }), ...written.history],
    },
  }
}

function inputOf({ action, input }: Operation, { sweptBindings }: Snapshot): OperationInput {
  const { sweepFirst: _first, afterSweeps: _after, ...kept } = input
  const waits = (action === 'deprovision' || action === 'update') && sweptBindings > 0
  return waits ? { ...kept, afterSweeps: true } : kept
}

const phases = {
  provision: 'creating',
  update: 'updating',
  deprovision: 'deleting',
  bind: 'creating',
  unbind: 'deleting',
} as const

function resourceOf(
  { instance, binding, now }: Snapshot,
  { id, action, bindingId, input }: Operation,
): Pick<Change, 'instance' | 'bindings'> {
  if (action === 'observe' || action === 'sweep') return {}
  const phase = phases[action]
  const touched = { lastOperationId: id, updatedAt: now }
  if (bindingId !== undefined && binding !== undefined && phase !== 'updating')
    return { bindings: [{ ...binding, ...touched, phase } satisfies Binding] }
  if (instance === undefined) return {}
  const leadsTo = action === 'update' && input.revisionId !== instance.revisionId ? input.revisionId : undefined
  const row: Instance = { ...instance, ...touched, phase, nextRevisionId: leadsTo ?? instance.nextRevisionId }
  return { instance: action === 'deprovision' ? { ...row, observeAt: undefined } : row }
}

interface ChangedOperation {
  readonly at: number
  readonly before: Operation
  readonly after: Operation
  /** What the platform is told. */
  readonly message?: string
}

function changed(verb: OperationVerb, acting: Acting, { at, before, after, message }: ChangedOperation): HistoryEvent {
  const { instanceId, bindingId, action } = after
  const shown = ({ id, state, notBefore }: Operation) => ({ operation: id, state, not_before: notBefore })
  const about = { at, instanceId, bindingId, operationId: after.id, action, before: shown(before), after: shown(after) }
  return { ...acted(verb, acting, about), message }
}
