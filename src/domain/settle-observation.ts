import type { Change, Finishing } from './change.ts'
import { conditionAt, findCondition, type Instance } from './instance.ts'
import { historyOf } from './intent.ts'
import { drainedAt } from './interrupt.ts'
import type { Observed, Outcome, SettlePolicy } from './outcome.ts'

/**
 * What was seen becomes the instance's conditions; no operation's result changes with it. The row of the observation is
 * deleted: its trace is the condition, and the history where health changed. The state stays as it is: what the observation
 * has saved is in it, and so is what binds and unbinds have merged into it meanwhile.
 */
export function settleObservation(snapshot: Finishing, outcome: Outcome, policy: SettlePolicy): Change {
  const { finishing, instance, now } = snapshot
  if (instance === undefined) return { deleteOperations: [finishing.id] }
  const seen: Observed =
    outcome.kind === 'succeeded'
      ? (outcome.result.observed ?? { ready: true })
      : { ready: false, reason: 'ObservationFailed', message: outcome.error.message }
  const { reason, message } = seen
  const conditions = [conditionAt(now, instance, { type: 'Ready', status: seen.ready, reason, message })]
  if (seen.degraded === true)
    conditions.push(conditionAt(now, instance, { type: 'Degraded', status: true, reason, message }))
  const observed: Instance = {
    ...instance,
    conditions,
    observeAt: policy.observeAt,
    // A call of it that got no answer may land after a deletion.
    uncleanUntil: finishing.unclean ? now + policy.sweepDelay : instance.uncleanUntil,
    drains: drainedAt(instance, now),
    updatedAt: now,
  }
  // One that nobody has looked at before counts as healthy.
  const wasReady = findCondition(instance, 'Ready')?.status ?? true
  const event = historyOf(finishing, seen.ready ? 'healed' : 'degraded', now, { message })
  return { instance: observed, deleteOperations: [finishing.id], history: wasReady === seen.ready ? [] : [event] }
}
