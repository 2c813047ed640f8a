import type { Change, Finishing } from './change.ts'
import type { Operation } from './operation.ts'
import type { Outcome, SettlePolicy } from './outcome.ts'
import { settle } from './settle.ts'
import { sweepId, sweepOf, unclaimed, withoutSweep } from './sweep-first.ts'

/**
 * The end of the sweep that a creation does first. The creation is queued again: for its own action, or for the next sweep
 * where a call of this one may still land. A sweep that failed for good is over, but what it has sent must land first.
 */
export function settleSweepFirst(snapshot: Finishing, outcome: Outcome, policy: SettlePolicy): Change {
  const { finishing, now } = snapshot
  const first = finishing.input.sweepFirst
  if (first === undefined) return {}
  const { instance = snapshot.instance, binding } = first
  const seen = { ...snapshot, instance, binding, operation: undefined, finishing: sweepOf(finishing, first) }
  const { operations: [ended, next] = [], history, ...swept } = settle(seen, outcome, policy)
  if (ended === undefined) return {}
  const written = binding === undefined ? { bindings: swept.bindings } : { instance: swept.instance }
  if (next !== undefined) {
    const tombstone = binding === undefined ? { instance: swept.instance } : { binding: swept.bindings?.[0] }
    const sweep = { ...next, id: sweepId(finishing, `-${now}`) }
    const input = { ...finishing.input, sweepFirst: { sweep, ...tombstone } }
    const again = { ...goOn(finishing, next.notBefore), input, description: finishing.description }
    return { ...written, operations: [ended, again], history }
  }
  const isQuiet = outcome.kind === 'succeeded' || !ended.unclean
  const begun = withoutSweep(goOn(finishing, isQuiet ? now : now + policy.sweepDelay))
  return { ...written, operations: [ended, begun], history }
}

function goOn(operation: Operation, at: number): Operation {
  return { ...operation, ...unclaimed, notBefore: Math.min(at, operation.deadlineAt) }
}
