/** What there is, in numbers: the same for both databases. */
import type { FailedOperation, Survey } from '../store.ts'
import { text } from './columns.ts'
import { keyOf } from './keys.ts'
import type { Dialect } from './sql-dialect.ts'

type Row = Readonly<Record<string, unknown>>

/** Each with the values of its question marks. Instances by an index that has all that they are counted by. */
export function surveyTexts(dialect: Dialect, now: number, endedSince: number) {
  const { table, instanceKey, countedInstances, activeOperations, numberIn } = dialect
  return {
    active: {
      text: `select action, state, count(*) as operations, min(accepted_at) as accepted_since,
        sum(case when state = 'queued' and ${numberIn('doc', 'hold.since')} is not null then 1 else 0 end) as held,
        min(case when attempt > 0 then accepted_at end) as begun_since,
        min(case when due_at <= ? then due_at end) as due_since,
        sum(case when ${numberIn('doc', 'deadlineAt')} <= ? then 1 else 0 end) as past_deadline
      from ${activeOperations} group by action, state`,
      values: [now, now],
    },
    ended: {
      text: `select action, state, count(*) as operations from ${table('operation')}
      where finished_at is not null and finished_at >= ? group by action, state`,
      values: [endedSince],
    },
    instances: {
      text: `select one.doc, counted.instances from (${countedInstances}) counted
        join ${table('instance')} one on one.${instanceKey} = counted.one`,
      values: [],
    },
    bindings: {
      text: `select service_id, phase, count(*) as bindings from ${table('binding')}
      where deleted_at is null and phase <> 'deleted' group by service_id, phase`,
      values: [],
    },
  } satisfies Readonly<Record<keyof Omit<Survey, 'now'>, { text: string; values: number[] }>>
}

export function toSurvey(
  { active, ended, instances, bindings }: Readonly<Record<keyof Omit<Survey, 'now'>, readonly Row[]>>,
  now: number,
): Survey {
  const counted = instances.map(({ doc, instances: count }) => {
    const { serviceId, planId, phase, usable } = JSON.parse(text(doc))
    return { serviceId, planId, phase, usable, instances: Number(count) }
  })
  return {
    active: active.map(row => ({
      ...toEnded(row),
      held: Number(row.held),
      acceptedSince: Number(row.accepted_since),
      begunSince: row.begun_since === null ? undefined : Number(row.begun_since),
      dueSince: row.due_since === null ? undefined : Number(row.due_since),
      pastDeadline: Number(row.past_deadline),
    })),
    ended: ended.map(toEnded),
    instances: counted,
    bindings: bindings.map(row => ({
      serviceId: nameOf(text(row.service_id), counted),
      phase: text(row.phase) as Survey['bindings'][number]['phase'],
      bindings: Number(row.bindings),
    })),
    now,
  }
}

function toEnded({ action, state, operations }: Row): Survey['ended'][number] {
  return { action, state, operations: Number(operations) } as Survey['ended'][number]
}

/** A column may hold a hash in place of an id; each binding has an instance of the same service. */
export function nameOf(key: string, known: readonly { readonly serviceId: string }[]): string {
  return known.find(({ serviceId }) => keyOf(serviceId) === key)?.serviceId ?? key
}

/** Two lists: what has failed, and what tries again with each of its steps that have failed. */
export function failureTexts({ table, activeOperations, failedSteps }: Dialect, most: number) {
  return {
    failed: {
      text: `select doc from ${table('operation')} where state = 'failed' and state in ('failed', 'superseded')
      order by accepted_at desc, id desc limit ?`,
      values: [most],
    },
    retrying: {
      text: `select active.doc, s.doc as step from ${activeOperations} ${failedSteps} limit ?`,
      values: [most],
    },
  }
}

export function toFailedOperation({ doc, step }: Row): FailedOperation {
  const { id, instanceId, bindingId, serviceId, action, error, acceptedAt, finishedAt } = JSON.parse(text(doc))
  const failed = { id, instanceId, bindingId, serviceId, action, error, acceptedAt, finishedAt }
  return typeof step === 'string' ? { ...failed, step: JSON.parse(step) } : failed
}
