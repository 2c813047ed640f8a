import { BrokerError } from '../protocol/errors.ts'
import type { Snapshot, Verdict } from './change.ts'
import { type Instance, liveInstance } from './instance.ts'
import { busy, newOperation, type OperationIntent } from './intent.ts'
import type { Operation } from './operation.ts'
import { type Acting, acted } from './operator.ts'

/**
 * An observation is due: it becomes an operation of its own, hidden from the platform, unless something else is at work
 * on the instance; then it waits for its next turn.
 */
export function decideObserve(
  snapshot: Snapshot,
  intent: OperationIntent,
  /** `possible`: somebody here can observe it. */
  next: { readonly at: number; readonly possible: boolean },
): Verdict<boolean> {
  const { instance, operation, now } = snapshot
  if (instance?.observeAt === undefined || instance.observeAt > now) return { answer: false }
  const moved = { ...instance, observeAt: next.at }
  if (operation !== undefined || !next.possible) return { answer: false, change: { instance: moved } }
  return { answer: true, change: { instance: moved, operations: [newObservation(instance, intent, now)] } }
}

/** Something outside has changed: what is one instance's own, or what all have that claim it. */
export type Drifted = { readonly instanceId: string } | { readonly claim: string }

/** `due`: its observation is due from now on. `coming`: it is observed anyway. `not`: something else is at work on it, or nobody observes it. */
export type ObserveSoon = 'due' | 'coming' | 'not'

/** Something has happened to it: its next observation is due now. */
export function decideObserveSoon({ instance, operation, now }: Snapshot): Verdict<ObserveSoon> {
  if (operation !== undefined) return { answer: operation.action === 'observe' ? 'coming' : 'not' }
  if (instance?.observeAt === undefined) return { answer: 'not' }
  if (instance.observeAt <= now) return { answer: 'coming' }
  return { answer: 'due', change: { instance: { ...instance, observeAt: now } } }
}

/** An operator does not wait for its turn. */
export function decideObserveNow(
  snapshot: Snapshot,
  acting: Acting & { readonly intent: OperationIntent; readonly possible: boolean },
): Verdict<Operation> {
  const { operation, now } = snapshot
  const instance = liveInstance(snapshot.instance)
  const { id: instanceId, phase, created } = instance
  if (!acting.possible) throw new BrokerError('VerbRefused', 'The service of the instance has no "observe".')
  if (!created) throw new BrokerError('VerbRefused', 'The instance was not created.')
  if (operation !== undefined) throw busy(operation, 'The instance')
  const begun = newObservation(instance, acting.intent, now)
  const about = { at: now, instanceId, operationId: begun.id, action: 'observe', before: { phase }, after: { phase } }
  return { answer: begun, change: { operations: [begun], history: [acted('observe', acting, about)] } }
}

function newObservation({ planId, platform }: Instance, intent: OperationIntent, now: number): Operation {
  return newOperation({ ...intent, planId, platform }, 'observe', now)
}
