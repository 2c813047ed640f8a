import type { Snapshot, Verdict } from './change.ts'
import { newOperation, type OperationIntent } from './intent.ts'

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
  return { answer: true, change: { instance: moved, operations: [newOperation(intent, 'observe', now)] } }
}
