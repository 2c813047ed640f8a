import { dueAt, isHeld } from '../../domain/operation.ts'
import type { ActiveCount, EndedCount, FailedOperation, Operation, Survey } from '../../store.ts'
import type { Tables } from './tables.ts'

export function readSurvey(tables: Tables, endedSince: number, now: number): Survey {
  const active = new Groups<ActiveCount>()
  for (const operation of tables.queue.all()) {
    const { action, state, acceptedAt, attempt, deadlineAt } = operation
    active.put([action, state], before => ({
      action,
      state,
      operations: (before?.operations ?? 0) + 1,
      held: (before?.held ?? 0) + (isHeld(operation) ? 1 : 0),
      acceptedSince: Math.min(before?.acceptedSince ?? acceptedAt, acceptedAt),
      begunSince: attempt === 0 ? before?.begunSince : Math.min(before?.begunSince ?? acceptedAt, acceptedAt),
      dueSince: dueAt(operation) > now ? before?.dueSince : Math.min(before?.dueSince ?? now, dueAt(operation)),
      pastDeadline: (before?.pastDeadline ?? 0) + (deadlineAt <= now ? 1 : 0),
    }))
  }
  const ended = new Groups<EndedCount>()
  for (const { action, state } of tables.operations.walk(tables.orders.finished, { from: endedSince }))
    ended.put([action, state], before => ({ action, state, operations: (before?.operations ?? 0) + 1 }))
  const instances = new Groups<Survey['instances'][number]>()
  for (const { serviceId, planId, phase, usable } of tables.instances.all()) {
    if (phase === 'deleted') continue
    const count = (before?: { readonly instances: number }) => (before?.instances ?? 0) + 1
    const key = [serviceId, planId, phase, usable]
    instances.put(key, before => ({ serviceId, planId, phase, usable, instances: count(before) }))
  }
  const bindings = new Groups<Survey['bindings'][number]>()
  for (const { serviceId, phase } of tables.bindings.all())
    if (phase !== 'deleted')
      bindings.put([serviceId, phase], before => ({ serviceId, phase, bindings: (before?.bindings ?? 0) + 1 }))
  return { active: active.all(), ended: ended.all(), instances: instances.all(), bindings: bindings.all(), now }
}

class Groups<Group> {
  readonly #groups = new Map<string, Group>()

  put(key: readonly unknown[], next: (before: Group | undefined) => Group): void {
    const text = JSON.stringify(key)
    this.#groups.set(text, next(this.#groups.get(text)))
  }

  all(): readonly Group[] {
    return [...this.#groups.values()]
  }
}

export function readFailures(tables: Tables, most: number): readonly FailedOperation[] {
  const failed: FailedOperation[] = []
  for (const row of tables.operations.walk(tables.orders.accepted, { descending: true })) {
    if (failed.length >= most) break
    if (row.state === 'failed') failed.push(toFailed(row))
  }
  const retrying: FailedOperation[] = []
  for (const row of tables.queue.all())
    for (const { output: _output, ...step } of tables.steps(row.id))
      if (step.state === 'failed' && retrying.length < most) retrying.push({ ...toFailed(row), step })
  return [...failed, ...retrying]
}

function toFailed(row: Operation): FailedOperation {
  const { id, instanceId, bindingId, serviceId, action, error, acceptedAt, finishedAt } = row
  return { id, instanceId, bindingId, serviceId, action, error, acceptedAt, finishedAt }
}
