import type { ClientSession } from 'mongodb'
import {
  countedActions,
  limitsOf,
  overQuota,
  type PlatformUse,
  type QuotaKind,
  type Within,
} from '../../domain/quota.ts'
import { keyOf as textKeyOf } from '../keys.ts'
import type { Database, Transaction } from './database.ts'
import { touch } from './lanes.ts'

/**
 * In the transaction that adds to what is counted. Neither of two sees what the other adds, so both write to the platform's
 * lane, and the one that is second fails and counts again.
 */
export async function requireQuota(tx: Transaction, within: Within): Promise<void> {
  const { collections, session } = tx
  const lane = `quota/${textKeyOf(within.platform)}`
  await collections.lane.updateOne({ _id: lane }, touch, { session, upsert: true })
  for (const [kind, limit] of limitsOf(within))
    if (limit === 0 || (await count(tx, { kind, platform: within.platform, limit, session })) >= limit)
      throw overQuota(kind, within)
}

export async function readPlatformUse(ledger: Database, platform: string): Promise<PlatformUse> {
  const [instances, bindings, operations] = await Promise.all([
    count(ledger, { kind: 'instances', platform }),
    count(ledger, { kind: 'bindings', platform }),
    count(ledger, { kind: 'operations', platform }),
  ])
  return { instances, bindings, operations }
}

export async function readPlatforms({ collections }: Database): Promise<readonly string[]> {
  const found = collections.instance.aggregate<{ readonly doc: string }>(
    [
      { $match: { 'listed.live': true } },
      { $group: { _id: '$listed.platform', id: { $first: '$_id' } } },
      { $lookup: { from: collections.instance.collectionName, localField: 'id', foreignField: '_id', as: 'one' } },
      { $project: { _id: 0, doc: { $first: '$one.doc' } } },
    ],
    { hint: 'list_by_platform' },
  )
  return (await found.toArray()).map(({ doc }) => JSON.parse(doc).platform)
}

interface Counted {
  readonly kind: QuotaKind
  readonly platform: string
  /** Nothing beyond it is counted. */
  readonly limit?: number
  readonly session?: ClientSession
}

async function count({ collections }: Database, { kind, platform, limit, session }: Counted): Promise<number> {
  const { instance, binding, operation } = collections
  const key = textKeyOf(platform)
  const live = { 'listed.platform': key, 'listed.live': true }
  if (kind === 'instances') return instance.countDocuments(live, { hint: 'list_by_platform', limit, session })
  if (kind === 'operations') {
    const active = { active: true as const, dueAt: { $gte: 0 }, 'listed.platform': key }
    const counted = { ...active, 'listed.action': { $in: [...countedActions] } }
    return operation.countDocuments(counted, { hint: 'due', limit, session })
  }
  const pipeline = [{ $match: { 'listed.live': true } }, { $project: { _id: 1 } }]
  const found = instance.aggregate<{ readonly count: number }>(
    [
      { $match: live },
      { $lookup: { from: binding.collectionName, localField: '_id', foreignField: 'instance', pipeline, as: 'bound' } },
      { $unwind: '$bound' },
      ...(limit === undefined ? [] : [{ $limit: limit }]),
      { $count: 'count' },
    ],
    { hint: 'list_by_platform', session },
  )
  const [counted] = await found.toArray()
  return counted?.count ?? 0
}
