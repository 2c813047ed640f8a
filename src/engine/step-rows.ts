import { fingerprintOf } from '../domain/fingerprint.ts'
import { limits } from '../domain/limits.ts'
import type { Operation, Step, StepTry } from '../domain/operation.ts'
import type { Claim } from '../ledger.ts'

/** What has failed before an operator released the operation does not count any more. */
export function countedSteps({ operation: { released }, steps }: Claim): readonly Step[] {
  if (released === undefined) return steps
  return steps.filter(({ state, startedAt }) => state === 'done' || startedAt >= released.at)
}

/** The step as it failed now. */
export function toFailed(step: Step, { message }: Error, operation: Operation, now: number): Step {
  return { ...step, error: message, failedAt: now, fingerprint: fingerprintOf(operation, step.name, message) }
}

/** Those of before, and the one that has just ended. */
export function triesOf(
  { operation, takenOver }: Claim,
  before: Step | undefined,
  { startedAt, endedAt, error }: Pick<StepTry, 'startedAt' | 'endedAt' | 'error'>,
): readonly StepTry[] {
  const { leaseOwner: worker, fence } = operation
  const latest = { startedAt, endedAt, error, worker, fence, takenOver: takenOver || undefined }
  return before?.tries === undefined ? [latest] : [...before.tries, latest].slice(-limits.triesPerStep)
}
