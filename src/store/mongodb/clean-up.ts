import type { Document } from 'mongodb'
import type { CleanUp, FinalState } from '../../store.ts'
import { type Database, type Transaction, transact } from './database.ts'

export async function cleanUp(ledger: Database, wanted: CleanUp): Promise<number> {
  if (wanted.max <= 0) return 0
  const states = [...new Set(wanted.states)]
  return transact(ledger, async tx => {
    const spent: Spent[] = []
    for (const state of states) spent.push(...(await readSpent(tx, wanted, state)))
    const oldest = spent.sort((one, other) => one.spentAt - other.spentAt).slice(0, wanted.max)
    if (oldest.length === 0) return 0
    const ids = oldest.map(({ _id }) => _id)
    // The steps are part of their operation.
    const { session } = tx
    return (await tx.collections.operation.deleteMany({ _id: { $in: ids } }, { session })).deletedCount
  })
}

interface Spent {
  readonly _id: string
  readonly spentAt: number
}

function readSpent(tx: Transaction, wanted: CleanUp, state: FinalState): Promise<readonly Spent[]> {
  const { collections, now, session } = tx
  const { of, before, max } = wanted
  const pipeline: Document[] = [
    { $match: { ofBinding: of === 'bindings', state, spentAt: { $lte: before } } },
    { $sort: { ofBinding: 1, state: 1, spentAt: 1 } },
    { $match: { $expr: { $lte: [{ $ifNull: ['$leaseUntil', 0] }, now()] } } },
    { $project: { spentAt: 1, instance: 1, binding: 1 } },
    // What is needed is looked at once more: spentAt only leads to what may go.
    neededBy(
      of === 'bindings' ? collections.binding : collections.instance,
      of === 'bindings' ? '$binding' : '$instance',
    ),
    { $match: { neededBy: [] } },
    { $limit: max },
    { $project: { spentAt: 1 } },
  ]
  return collections.operation.aggregate<Spent>(pipeline, { session }).toArray()
}

/** The resource that lives and has the operation as its latest one. */
function neededBy(from: { readonly collectionName: string }, resource: string): Document {
  return {
    $lookup: {
      from: from.collectionName,
      let: { resource, operation: '$_id' },
      pipeline: [
        { $match: { $expr: { $eq: ['$_id', '$$resource'] } } },
        { $match: { phase: { $ne: 'deleted' }, $expr: { $eq: ['$last', '$$operation'] } } },
        { $project: { _id: 1 } },
      ],
      as: 'neededBy',
    },
  }
}
