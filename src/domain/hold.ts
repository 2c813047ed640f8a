import type { Change, Finishing } from './change.ts'
import { historyOf } from './intent.ts'
import { type Hold, nextState, type Operation, type OperationError } from './operation.ts'

/** Not due before its deadline, which ends before the platform stops polling: no query has to know of holds. */
export function heldAt(
  { deadlineAt }: Operation,
  now: number,
  more: Omit<Hold, 'since'>,
): Pick<Operation, 'hold' | 'notBefore'> {
  return { hold: { since: now, ...more }, notBefore: deadlineAt }
}

/**
 * Instead of its failure: it is queued again, and its resource stays as it is. What failed may still land, so that whoever runs it
 * after a release has to know.
 */
export function settleHeld({ finishing, now }: Finishing, error: OperationError, description: string): Change {
  const held: Operation = {
    ...finishing,
    ...heldAt(finishing, now, { error }),
    state: nextState(finishing.state, 'park'),
    leaseOwner: undefined,
    leaseUntil: undefined,
    description,
  }
  return { operations: [held], history: [historyOf(held, 'held', now, { message: error.message })] }
}
