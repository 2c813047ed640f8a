import type { Document } from 'mongodb'
import { type Database, type Transaction, transact } from './database.ts'

/** More than an instance is ever locked. */
const lifetimesApart = 1e12

/** Several transactions, none of which leaves anything half: the longer one is, the more requests it stands in the way of. */
export async function purge(ledger: Database, before: number, max: number): Promise<number> {
  let removed = 0
  while (removed < max) {
    const wanted = Math.min(batch, max - removed)
    const count = await transact(ledger, tx => purgeSome(tx, before, wanted))
    removed += count
    if (count < wanted) break
  }
  return removed
}

const batch = 25

interface Tombstone {
  readonly _id: string
  /** Of a binding: the instance it belongs to. */
  readonly instance?: string
  readonly deletedAt: number
}

/**
 * Every change of an instance, or of something that belongs to it, writes the instance's document, and so does this: what
 * was changed since the transaction's first look makes it fail and look again.
 */
async function purgeSome(tx: Transaction, before: number, max: number): Promise<number> {
  const { instance, binding } = tx.collections
  const { session } = tx
  const due = [
    ...(await instance.aggregate<Tombstone>(deadInstances(tx, before, max), { session }).toArray()),
    ...(await binding.aggregate<Tombstone>(deadBindings(tx, before, max), { session }).toArray()),
  ]
  const oldest = due.sort((one, other) => one.deletedAt - other.deletedAt).slice(0, max)
  const instances = oldest.filter(row => row.instance === undefined)
  await removeInstances(tx, instances.map(idOf))
  const bindings = oldest.filter(row => row.instance !== undefined)
  await removeBindings(tx, bindings)
  return oldest.length
}

/**
 * A claim that is left only says that a deletion forgot to release it. The documents of shared resources stay as they are,
 * so nothing goes that a neighbour claims, and what nobody claims any more goes with the next one that acquires and
 * releases.
 */
async function removeInstances({ collections, session }: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const theirs = { instance: { $in: [...ids] } }
  await collections.instance.deleteMany({ _id: { $in: [...ids] } }, { session })
  await collections.operation.deleteMany(theirs, { session })
  await collections.binding.deleteMany(theirs, { session })
  // The history stays, before all that an instance of the same id will have: its lock begins anew.
  await collections.history.updateMany(theirs, { $inc: { lock: -lifetimesApart } }, { session })
  await collections.claim.deleteMany(theirs, { session })
}

async function removeBindings({ collections, session }: Transaction, bindings: readonly Tombstone[]): Promise<void> {
  if (bindings.length === 0) return
  const instances = bindings.flatMap(({ instance }) => (instance === undefined ? [] : [instance]))
  const ids = bindings.map(idOf)
  await collections.instance.updateMany({ _id: { $in: instances } }, { $inc: { lock: 1 } }, { session })
  await collections.operation.deleteMany({ instance: { $in: instances }, resource: { $in: ids } }, { session })
  await collections.binding.deleteMany({ _id: { $in: ids } }, { session })
}

function idOf({ _id }: Tombstone): string {
  return _id
}

function deadInstances(ledger: Database, before: number, max: number): Document[] {
  const { operation, binding } = ledger.collections
  const unclean = { $expr: { $gt: ['$uncleanUntil', ledger.now()] } }
  return [
    ...deletedAndClean(ledger, before),
    any('active', operation, { localField: '_id', foreignField: 'instance' }, { active: true }),
    any('unclean', binding, { localField: '_id', foreignField: 'instance' }, unclean),
    { $match: { active: [], unclean: [] } },
    { $limit: max },
    { $project: { deletedAt: 1 } },
  ]
}

/** Those of an instance that is deleted go with it. */
function deadBindings(ledger: Database, before: number, max: number): Document[] {
  const { operation, instance } = ledger.collections
  return [
    ...deletedAndClean(ledger, before),
    any('active', operation, { localField: '_id', foreignField: 'resource' }, { active: true }),
    any('dead', instance, { localField: 'instance', foreignField: '_id' }, { phase: 'deleted' }),
    { $match: { active: [], dead: [] } },
    { $limit: max },
    { $project: { deletedAt: 1, instance: 1 } },
  ]
}

function deletedAndClean({ now }: Database, before: number): Document[] {
  return [
    { $match: { deletedAt: { $lte: before } } },
    { $sort: { deletedAt: 1 } },
    { $match: { $expr: { $lte: [{ $ifNull: ['$uncleanUntil', 0] }, now()] } } },
    { $project: { deletedAt: 1, instance: 1 } },
  ]
}

/** One that matches, if there is any. */
function any(
  as: string,
  { collectionName: from }: { readonly collectionName: string },
  fields: { readonly localField: string; readonly foreignField: string },
  $match: Document,
): Document {
  return { $lookup: { from, ...fields, pipeline: [{ $match }, { $limit: 1 }], as } }
}
