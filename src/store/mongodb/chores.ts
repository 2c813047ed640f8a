import type { Document, Filter } from 'mongodb'
import { withoutUndefined } from '../../protocol/json.ts'
import type { Chore, ChoreLease, ChoreResult, ChoreTaking } from '../../store.ts'
import { type Database, lookup, readWithTime } from './database.ts'
import type { ChoreDocument } from './documents.ts'
import { isCode, serverCodes } from './driver.ts'

/** One atomic update decides who gets the run and numbers it: each chore counts its own fences. */
export async function takeChore(ledger: Database, taking: ChoreTaking): Promise<ChoreLease | undefined> {
  const { name, dueAt } = taking
  const { chore } = ledger.collections
  const options = { maxTimeMS: ledger.timeoutMs, returnDocument: 'after', projection: { fence: 1 } } as const
  if (dueAt > (await readChores(ledger)).now) return undefined
  const taken = await chore.findOneAndUpdate(open(ledger, name, dueAt), [takenBy(ledger, taking)], options)
  if (taken !== null) return { name, fence: taken.fence }
  try {
    const first = { _id: name, fence: { $exists: false } }
    const made = await chore.findOneAndUpdate(first, [takenBy(ledger, taking)], { ...options, upsert: true })
    return made === null ? undefined : { name, fence: made.fence }
  } catch (error) {
    // It is there, and it was not open.
    if (isCode(error, serverCodes.duplicateKey)) return undefined
    throw error
  }
}

export async function renewChore(ledger: Database, lease: ChoreLease, leaseTime: number): Promise<boolean> {
  const now = ledger.now()
  const standing = { ...heldBy(lease), $expr: { $gt: ['$leaseUntil', now] } }
  const renewal = [{ $set: { leaseUntil: { $add: [now, leaseTime] } } }]
  const renewed = await ledger.collections.chore.updateOne(standing, renewal, { maxTimeMS: ledger.timeoutMs })
  return renewed.matchedCount > 0
}

export async function finishChore(ledger: Database, lease: ChoreLease, result: ChoreResult): Promise<boolean> {
  const end = { finishedAt: ledger.now(), leaseUntil: '$$REMOVE', result: { $literal: JSON.stringify(result) } }
  const finished = await ledger.collections.chore.updateOne(heldBy(lease), [{ $set: end }], {
    maxTimeMS: ledger.timeoutMs,
  })
  return finished.matchedCount > 0
}

export async function readChores(ledger: Database): Promise<{ now: number; chores: readonly Chore[] }> {
  const all = lookup('chores', ledger.collections.chore, { $match: { _id: { $gte: '' } } }, { $sort: { _id: 1 } })
  const { now, chores } = await readWithTime<{ readonly chores: readonly ChoreDocument[] }>(ledger, [all])
  return { now, chores: chores.map(toChore) }
}

/** A period that is over is taken once; one whose holder is gone is taken over, for itself or for a later one. */
function open({ now }: Database, name: string, dueAt: number): Filter<ChoreDocument> {
  return {
    _id: name,
    $or: [
      { finishedAt: { $exists: true }, dueAt: { $lt: dueAt } },
      { finishedAt: { $exists: false }, dueAt: { $lte: dueAt }, $expr: { $lte: ['$leaseUntil', now()] } },
    ],
  }
}

function takenBy({ now }: Database, { name, dueAt, owner, leaseTime }: ChoreTaking): Document {
  return {
    $replaceWith: {
      _id: { $literal: name },
      dueAt: { $literal: dueAt },
      owner: { $literal: owner },
      startedAt: now(),
      leaseUntil: { $add: [now(), leaseTime] },
      fence: { $add: [{ $ifNull: ['$fence', 0] }, 1] },
    },
  }
}

function heldBy({ name, fence }: ChoreLease): Filter<ChoreDocument> {
  return { _id: name, fence, finishedAt: { $exists: false } }
}

export function toChore({ _id: name, result, ...times }: ChoreDocument): Chore {
  return withoutUndefined({ name, ...times, result: result && JSON.parse(result) })
}
