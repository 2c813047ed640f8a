import type { Document } from 'mongodb'
import { forgetNamesAfter, longestLease } from '../../domain/replica-name.ts'
import type { NameAnswer, NameTaking } from '../../store.ts'
import { type Database, lookup, readWithTime } from './database.ts'
import type { ReplicaDocument } from './documents.ts'
import { isCode, serverCodes } from './driver.ts'
import { handBack } from './progress.ts'

/**
 * One atomic update decides who gets the name. The leases of the owner before are ended after it: where that is cut off,
 * they run out like any other.
 */
export async function takeName(ledger: Database, taking: NameTaking): Promise<NameAnswer> {
  const { replica } = ledger.collections
  const { name } = taking
  const { maxTimeMS, now } = { maxTimeMS: ledger.timeoutMs, now: ledger.now() }
  const free = {
    _id: name,
    $expr: {
      $or: [
        { $eq: ['$owner', { $literal: taking.owner }] },
        { $lte: [{ $add: [{ $ifNull: ['$seenAt', 0] }, taking.silence] }, now] },
      ],
    },
  }
  const options = { maxTimeMS, returnDocument: 'after' } as const
  const unknown = { _id: name, owner: { $exists: false } }
  try {
    const taken =
      (await replica.findOneAndUpdate(free, [takenBy(taking, now)], options)) ??
      (await replica.findOneAndUpdate(unknown, [takenBy(taking, now)], { ...options, upsert: true }))
    const old = { $lt: [{ $ifNull: ['$seenAt', '$since'] }, { $subtract: [now, forgetNamesAfter] }] }
    await replica.deleteMany({ _id: { $gte: '' }, $expr: old }, { maxTimeMS })
    const former = taken?.former
    if (former !== undefined) await endLeases(ledger, former)
    return { taken: true, former }
  } catch (error) {
    // It is there, and it was not free.
    if (!isCode(error, serverCodes.duplicateKey)) throw error
  }
  const found = await readWithTime<{ readonly holders: readonly ReplicaDocument[] }>(ledger, [
    lookup('holders', replica, { $match: { _id: name } }),
  ])
  const [holder] = found.holders
  // Forgotten in between: it is to be had.
  if (holder === undefined) return takeName(ledger, taking)
  const { owner, since, seenAt } = holder
  return { taken: false, holder: { owner, since, seenAt }, now: found.now }
}

export async function renewName(ledger: Database, name: string, owner: string): Promise<boolean> {
  const seen = [{ $set: { seenAt: ledger.now() } }]
  const { replica } = ledger.collections
  return (await replica.updateOne({ _id: name, owner }, seen, { maxTimeMS: ledger.timeoutMs })).matchedCount > 0
}

export async function releaseName(ledger: Database, name: string, owner: string): Promise<void> {
  const gone = [{ $set: { since: ledger.now(), seenAt: '$$REMOVE' } }]
  await ledger.collections.replica.updateOne({ _id: name, owner }, gone, { maxTimeMS: ledger.timeoutMs })
}

function takenBy({ owner: next }: NameTaking, now: object): Document {
  const owner = { $literal: next }
  const former = { $cond: [{ $eq: [{ $ifNull: ['$owner', owner] }, owner] }, '$$REMOVE', '$owner'] }
  return { $set: { former, owner, since: now, seenAt: now } }
}

async function endLeases(ledger: Database, owner: string): Promise<void> {
  const { operation, chore } = ledger.collections
  const maxTimeMS = ledger.timeoutMs
  const { now } = await readWithTime<object>(ledger, [])
  const leaseUntil = { $min: ['$leaseUntil', now] }
  const queue = { active: true, dueAt: { $gt: now, $lte: now + longestLease } } as const
  const ended = [{ $set: { leaseUntil, dueAt: leaseUntil } }]
  await operation.updateMany({ ...queue, state: 'running', leaseOwner: owner }, ended, { maxTimeMS })
  await chore.updateMany({ _id: { $gte: '' }, owner, finishedAt: { $exists: false } }, [{ $set: { leaseUntil } }], {
    maxTimeMS,
  })
  const waiting = await operation.distinct('drains', { ...queue, state: 'queued', drains: { $exists: true } })
  const superseded = operation.find({ _id: { $in: waiting.filter(id => id !== undefined) }, leaseOwner: owner })
  for (const { _id, fence } of await superseded.toArray()) await handBack(ledger, _id, fence)
}
