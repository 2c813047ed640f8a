import type { Collection, Filter, FindOptions } from 'mongodb'
import type { LeftOut } from '../../domain/left-out.ts'
import { longestLease } from '../../domain/replica-name.ts'
import type { Backlog, ExpiringBinding, Reads } from '../../store.ts'
import { toExpiring } from '../columns.ts'
import { type Database, lookup, readWithTime } from './database.ts'
import { keyOf } from './keys.ts'
import { notLeftOut, toBinding, toHistory, toInstance, toOperation, toStep } from './rows.ts'

export function createReads({
  collections,
  sealer,
  timeoutMs: maxTimeMS,
}: Database): Omit<
  Reads,
  `list${string}` | 'instanceCounts' | 'backlog' | 'survey' | 'failures' | `platform${string}`
> {
  const { instance, binding, operation, history, claim } = collections

  /**
   * A primary that was cut off does not know at first that there is another one: before it says that something is not
   * there, a majority must confirm that it is the primary.
   */
  async function find<Row extends { _id: string }>(rows: Collection<Row>, _id: string, options?: FindOptions) {
    const filter = { _id } as Filter<Row>
    const sure: FindOptions = { ...options, readConcern: { level: 'linearizable' }, maxTimeMS }
    return (await rows.findOne(filter, options)) ?? (await rows.findOne(filter, sure))
  }

  return {
    async instance(id) {
      const found = await find(instance, keyOf(id))
      return found === null ? undefined : toInstance(sealer, found)
    },
    async binding(instanceId, id) {
      const found = await find(binding, keyOf(instanceId, id))
      return found === null ? undefined : toBinding(sealer, found)
    },
    async bindings(instanceId) {
      const found = binding.find({ instance: keyOf(instanceId), phase: { $ne: 'deleted' } }).sort({ seq: 1 })
      return (await found.toArray()).map(row => toBinding(sealer, row))
    },
    async claimants(key, most) {
      if (most <= 0) return []
      const observed = [{ $match: { observeAt: { $exists: true } } }, { $project: { _id: 0, id: 1 } }]
      const found = claim.aggregate<{ id: string }>([
        { $match: { resource: keyOf(key) } },
        {
          $lookup: {
            from: instance.collectionName,
            localField: 'instance',
            foreignField: '_id',
            pipeline: observed,
            as: 'found',
          },
        },
        { $unwind: '$found' },
        { $limit: most },
        { $replaceWith: '$found' },
      ])
      return (await found.toArray()).map(({ id }) => id)
    },
    async operation(id) {
      const found = await find(operation, keyOf(id), { projection: { steps: 0 } })
      return found === null ? undefined : toOperation(sealer, found)
    },
    async steps(operationId) {
      const found = await operation.findOne({ _id: keyOf(operationId) }, { projection: { steps: 1 } })
      return found === null ? [] : found.steps.map(step => toStep(sealer, found._id, step))
    },
    async history(instanceId) {
      const found = history.find({ instance: keyOf(instanceId) }).sort({ instance: 1, lock: 1, place: 1 })
      return (await found.toArray()).map(row => toHistory(sealer, row))
    },
  }
}

/** What an index entry's time is compared with is worked out once, by the server. */
export async function readBacklog(ledger: Database, most: number, leftOut?: LeftOut): Promise<Backlog> {
  const { collections, now } = ledger
  const first = (when: object) => [
    { $match: { active: true, dueAt: { $gte: 0 }, $expr: when, ...notLeftOut(leftOut) } },
    { $sort: { dueAt: 1, seq: 1 } },
    { $limit: most },
  ]
  const isDue = { $lte: ['$dueAt', now()] }
  const isLeased = { $and: [{ $gt: ['$dueAt', now()] }, { $lte: ['$dueAt', { $add: [now(), longestLease] }] }] }
  const count = { count: { $sum: 1 }, since: { $min: '$dueAt' } }
  const found = await readWithTime<Record<'due' | 'leased', readonly { count: number; since: number }[]>>(
    ledger,
    [
      lookup('due', collections.operation, ...first(isDue), { $group: { _id: null, ...count } }),
      lookup(
        'leased',
        collections.operation,
        ...first(isLeased),
        { $match: { state: 'running' } },
        { $group: { _id: null, ...count } },
      ),
    ],
    { readConcern: { level: 'local' } },
  )
  const [due] = found.due
  return { now: found.now, due: due?.count ?? 0, dueSince: due?.since, running: found.leased[0]?.count ?? 0 }
}

export async function readDueForExpiry(
  { collections, now }: Database,
  max: number,
): Promise<readonly ExpiringBinding[]> {
  if (max <= 0) return []
  const due = collections.binding.find({
    'listed.noticeAt': { $exists: true },
    $expr: { $lte: ['$listed.noticeAt', now()] },
  })
  const found = due.sort({ 'listed.noticeAt': 1, seq: 1 }).limit(max).project<{ doc: string }>({ doc: 1 })
  return (await found.toArray()).map(toExpiring)
}

export async function readDueForObservation({ collections, now }: Database, max: number): Promise<readonly string[]> {
  if (max <= 0) return []
  const due = collections.instance.find({ observeAt: { $exists: true }, $expr: { $lte: ['$observeAt', now()] } })
  const found = await due.sort({ observeAt: 1, seq: 1 }).limit(max).project<{ id: string }>({ id: 1 }).toArray()
  return found.map(({ id }) => id)
}
