import type { Document } from 'mongodb'
import type { ActiveCount, EndedCount, FailedOperation, Survey } from '../../store.ts'
import { nameOf, toFailedOperation } from '../sql-survey.ts'
import { type Database, readWithTime } from './database.ts'

export async function readSurvey(ledger: Database, endedSince: number): Promise<Survey> {
  const { operation, instance, binding } = ledger.collections
  const { now } = await readWithTime(ledger, [])
  const by = (keys: Document) => ({ _id: keys, count: { $sum: 1 } })
  const due = { $cond: [{ $lte: ['$dueAt', now] }, '$dueAt', null] }
  const held = { $cond: [{ $and: ['$listed.hold', { $eq: ['$state', 'queued'] }] }, 1, 0] }
  const begun = { $cond: [{ $gt: ['$attempt', 0] }, '$listed.acceptedAt', null] }
  const late = { $cond: [{ $lte: [{ $ifNull: ['$listed.deadlineAt', now + 1] }, now] }, 1, 0] }
  const kind = { action: '$listed.action', state: '$state' }
  const [active, ended, instances, bindings] = await Promise.all([
    operation
      .aggregate<Group<ActiveCount> & { readonly begunSince: number | null; readonly dueSince: number | null }>(
        [
          { $match: { active: true } },
          {
            $group: {
              ...by(kind),
              held: { $sum: held },
              acceptedSince: { $min: '$listed.acceptedAt' },
              begunSince: { $min: begun },
              dueSince: { $min: due },
              pastDeadline: { $sum: late },
            },
          },
        ],
        { hint: 'due' },
      )
      .toArray(),
    operation
      .aggregate<Group<EndedCount>>([{ $match: { finishedAt: { $gte: endedSince } } }, { $group: by(kind) }])
      .toArray(),
    instance
      .aggregate<{ readonly doc: string; readonly count: number }>(
        [
          { $match: { 'listed.live': true } },
          {
            $group: {
              ...by({ service: '$listed.service', plan: '$listed.plan', phase: '$phase', usable: '$listed.usable' }),
              doc: { $first: '$doc' },
            },
          },
        ],
        { hint: 'survey' },
      )
      .toArray(),
    binding
      .aggregate<{ readonly _id: { service: string; phase: never }; readonly count: number }>(
        [{ $match: { 'listed.live': true } }, { $group: by({ service: '$listed.service', phase: '$phase' }) }],
        { hint: 'survey' },
      )
      .toArray(),
  ])
  const counted = instances.map(({ doc, count }) => {
    const { serviceId, planId, phase, usable } = JSON.parse(doc)
    return { serviceId, planId, phase, usable, instances: count }
  })
  return {
    active: active.map(({ _id, count, held, acceptedSince, begunSince, dueSince, pastDeadline }) => ({
      ..._id,
      operations: count,
      held,
      acceptedSince,
      begunSince: begunSince ?? undefined,
      dueSince: dueSince ?? undefined,
      pastDeadline,
    })),
    ended: ended.map(({ _id, count }) => ({ ..._id, operations: count })),
    instances: counted,
    bindings: bindings.map(({ _id, count }) => ({
      serviceId: nameOf(_id.service, counted),
      phase: _id.phase,
      bindings: count,
    })),
    now,
  }
}

type Group<Count extends EndedCount> = Omit<Count, 'action' | 'state' | 'operations' | 'begunSince' | 'dueSince'> & {
  readonly _id: Pick<Count, 'action' | 'state'>
  readonly count: number
}

export async function readFailures({ collections }: Database, most: number): Promise<readonly FailedOperation[]> {
  const { operation } = collections
  const [failed, active] = await Promise.all([
    operation
      .find({ state: 'failed', 'listed.unsuccessful': true }, { projection: { doc: 1 } })
      .sort({ 'listed.acceptedAt': -1, _id: -1 })
      .limit(most)
      .toArray(),
    operation
      .find({ active: true, steps: { $elemMatch: { done: false } } }, { hint: 'due', projection: { doc: 1, steps: 1 } })
      .limit(most)
      .toArray(),
  ])
  const retrying = active.flatMap(({ doc, steps }) =>
    steps.filter(({ done }) => !done).map(step => toFailedOperation({ doc, step: step.doc })),
  )
  return [...failed.map(({ doc }) => toFailedOperation({ doc })), ...retrying.slice(0, most)]
}
