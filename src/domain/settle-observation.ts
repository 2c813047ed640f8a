import type { Change, Finishing, HistoryEvent } from './change.ts'
import { type Condition, conditionAt, findCondition, type Instance } from './instance.ts'
import { historyOf } from './intent.ts'
import type { Operation } from './operation.ts'
import type { Observed, Outcome, SettlePolicy } from './outcome.ts'

/**
 * What was seen becomes the instance's conditions; no operation's result changes with it. The row of the observation is
 * deleted: its trace is the condition, and the history where health changed.
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
  const healthy: Instance = {
    ...instance,
    conditions,
    state: (outcome.kind === 'succeeded' ? outcome.result.state : undefined) ?? instance.state,
    observeAt: policy.observeAt,
    updatedAt: now,
  }
  return {
    instance: healthy,
    deleteOperations: [finishing.id],
    history: changes(finishing, findCondition(instance, 'Ready'), seen, now),
  }
}

function changes(operation: Operation, before: Condition | undefined, seen: Observed, now: number): HistoryEvent[] {
  if (before?.status === seen.ready || (before === undefined && seen.ready)) return []
  return [historyOf(operation, seen.ready ? 'healed' : 'degraded', now, { message: seen.message })]
}
