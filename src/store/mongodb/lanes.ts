/**
 * Keeps an instance from being pinned to a revision while that is deleted: neither of the two transactions sees what the
 * other writes, so both write to a lane as well, and the one that is second fails and looks again. Revisions share groups
 * of lanes; who pins takes one lane of the group, so that those who pin seldom meet, and who deletes takes all of them.
 */
import { createHash } from 'node:crypto'
import type { AnyBulkWriteOperation } from 'mongodb'
import { revisionGone } from '../pins.ts'
import type { Transaction } from './database.ts'
import type { LaneDocument } from './documents.ts'

const groups = 32
const width = 8

/** In the transaction that writes the instance; refuses what is not stored. */
export async function pinTo({ collections, session }: Transaction, revisions: readonly string[]): Promise<void> {
  const { lane, revision } = collections
  for (const id of revisions) {
    const number = Math.floor(Math.random() * width)
    await lane.updateOne({ _id: laneId(groupOf(id), number) }, touch, { session, upsert: true })
    if ((await revision.findOne({ _id: id }, { session, projection: { _id: 1 } })) === null) throw revisionGone()
  }
}

/** In the transaction that deletes revisions, before it looks who is pinned to them: from then on nobody else gets in. */
export async function closeLanes({ collections, session }: Transaction, revisions: readonly string[]): Promise<void> {
  const lanes = [...new Set(revisions.map(groupOf))].flatMap(group =>
    Array.from({ length: width }, (_, number) => laneId(group, number)),
  )
  const writes = lanes.map(
    (_id): AnyBulkWriteOperation<LaneDocument> => ({ updateOne: { filter: { _id }, update: touch, upsert: true } }),
  )
  if (writes.length > 0) await collections.lane.bulkWrite(writes, { session })
}

/** What is written does not matter, only that it is. */
export const touch = { $inc: { touched: 1 } }

function groupOf(revision: string): number {
  return createHash('sha256').update(revision).digest().readUInt8() % groups
}

function laneId(group: number, number: number): string {
  return `${group}/${number}`
}
