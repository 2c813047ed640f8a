import { randomInt } from 'node:crypto'
import type { Document } from 'mongodb'
import type { LeftOut } from '../../domain/left-out.ts'
import type { Claim, Claims } from '../../store.ts'
import type { Sealer } from '../sealing.ts'
import { type Database, lookup, lostMeta, readWithTime } from './database.ts'
import type { BindingDocument, InstanceDocument, OperationDocument } from './documents.ts'
import { isCode, serverCodes } from './driver.ts'
import { keyOf } from './keys.ts'
import { handBack, notOnTimeout, patienceMs } from './progress.ts'
import { notLeftOut, toBinding, toInstance, toOperation, toStep } from './rows.ts'

/**
 * A claim first takes the operations and then numbers them: a fence is drawn only while its lease is held, so a lease that
 * begins after another has ended has the higher number, whatever came between. A claim that is cut off in the middle has
 * taken leases that nobody uses; they run out like any other.
 *
 * No transaction: a multi-document one would make every replica's claim wait for one that was cut off. What is not
 * confirmed by a majority yet is confirmed with the numbers, which are written last.
 */
export async function claimDue(ledger: Database, request: ClaimRequest): Promise<Claims> {
  const { max, leftOut, ...claimer } = request
  const wanted = Math.max(0, max)
  const { now, queue } = await readQueue(ledger, wanted, leftOut)
  const due = queue.slice(0, wanted).filter(({ dueAt }) => dueAt <= now)
  const ids = due.map(({ _id }) => _id)
  const claims = ids.length === 0 ? [] : await claimThese(ledger, ids, claimer)
  const claimed = keysOf(claims)
  const next = queue.find(({ _id }) => !claimed.has(_id))
  return { claims, now, nextAt: next?.dueAt }
}

export interface ClaimRequest extends Claimer {
  readonly max: number
  readonly leftOut?: LeftOut
}

interface Queued {
  readonly _id: string
  readonly dueAt: number
}

interface Claimer {
  readonly owner: string
  readonly leaseMs: number
}

function keysOf(claims: readonly Claim[]): ReadonlySet<string> {
  return new Set(claims.map(({ operation }) => keyOf(operation.id)))
}

/** The time, and the first of the active operations: as many as are wanted and one more, which is the next to be due. */
function readQueue(ledger: Database, wanted: number, leftOut?: LeftOut) {
  const queue = lookup(
    'queue',
    ledger.collections.operation,
    { $match: { active: true, dueAt: { $gte: 0 }, ...notLeftOut(leftOut) } },
    { $sort: { dueAt: 1, seq: 1 } },
    { $limit: wanted + 1 },
    { $project: { dueAt: 1 } },
  )
  return readWithTime<{ readonly queue: readonly Queued[] }>(ledger, [queue], { readConcern: { level: 'local' } })
}

/** Claims those that are still due, in the order of the ids. */
async function claimThese(ledger: Database, ids: readonly string[], claimer: Claimer): Promise<readonly Claim[]> {
  const { meta, operation } = ledger.collections
  const mark = -1 - randomInt(2 ** 47)
  await take(ledger, ids, leaseUpdate(ledger.now(), mark, claimer))
  const taken = await operation
    .find({ _id: { $in: [...ids] }, fence: mark }, { readConcern: { level: 'local' } })
    .project<Pick<OperationDocument, '_id' | 'state'>>({ state: 1 })
    .toArray()
  const running = new Set(taken.filter(({ state }) => state === 'running').map(({ _id }) => _id))
  for (const { _id } of taken) if (!running.has(_id)) await handBack(ledger, _id, mark)
  if (running.size === 0) return []

  const numbered = await meta.findOneAndUpdate(
    { _id: 'ledger' },
    { $inc: { fence: running.size } },
    { returnDocument: 'after' },
  )
  if (numbered === null) throw lostMeta()
  const order = ids.filter(id => running.has(id))
  const first = numbered.fence - order.length + 1
  await operation.updateMany({ _id: { $in: order }, fence: mark, state: 'running' }, [
    { $set: { fence: { $add: [first, { $indexOfArray: [order, '$_id'] }] } } },
  ])
  const claims = await readClaims(ledger, order, first)
  const claimed = keysOf(claims)
  for (const [index, id] of order.entries())
    if (!claimed.has(id)) await handBackSuperseded(ledger, id, [mark, first + index])
  return claims
}

/** Gives those that are due a lease, without its number. */
async function take(ledger: Database, ids: readonly string[], update: Document[]): Promise<void> {
  const { operation } = ledger.collections
  const now = ledger.now()
  const takeSome = (some: readonly string[]) =>
    operation.updateMany({ _id: { $in: [...some] }, active: true, $expr: { $lte: ['$dueAt', now] } }, update, {
      maxTimeMS: patienceMs,
      writeConcern: { w: 1 },
    })
  try {
    await takeSome(ids)
  } catch (error) {
    if (!isCode(error, serverCodes.maxTimeExpired)) throw error
    // A transaction that was cut off holds one of them until the server ends it: the others must not wait for that.
    await Promise.all(ids.map(id => takeSome([id]).catch(notOnTimeout)))
  }
}

function leaseUpdate(now: object, mark: number, { owner, leaseMs }: Claimer): Document[] {
  const takenOver = { $eq: ['$state', 'running'] }
  const leaseUntil = { $add: [now, leaseMs] }
  return [
    {
      $set: {
        state: 'running',
        attempt: { $add: ['$attempt', 1] },
        losses: { $add: ['$losses', { $cond: [takenOver, 1, 0] }] },
        unclean: { $or: ['$unclean', takenOver] },
        takenOver,
        leaseOwner: { $literal: owner },
        leaseUntil,
        dueAt: leaseUntil,
        fence: mark,
        checkpointAt: { $ifNull: ['$checkpointAt', now] },
      },
    },
  ]
}

type ClaimedDocument = OperationDocument & {
  readonly instances: readonly InstanceDocument[]
  readonly bindings: readonly BindingDocument[]
}

async function readClaims(ledger: Database, ids: readonly string[], first: number): Promise<readonly Claim[]> {
  const { operation, instance, binding } = ledger.collections
  const joined = (as: string, { collectionName: from }: { readonly collectionName: string }, localField: string) => ({
    $lookup: { from, localField, foreignField: '_id', as },
  })
  const found = operation.aggregate<ClaimedDocument>([
    { $match: { _id: { $in: [...ids] }, fence: { $gte: first, $lt: first + ids.length }, state: 'running' } },
    { $sort: { fence: 1 } },
    joined('instances', instance, 'instance'),
    joined('bindings', binding, 'binding'),
  ])
  return (await found.toArray()).map(document => toClaim(ledger.sealer, document))
}

function toClaim(sealer: Sealer, document: ClaimedDocument): Claim {
  const { instances, bindings, steps, takenOver = false } = document
  const instance = instances[0] && toInstance(sealer, instances[0])
  if (instance === undefined) throw new Error(`the operation ${document._id} has no instance: put back a backup`)
  return {
    operation: toOperation(sealer, document),
    instance,
    binding: bindings[0] && toBinding(sealer, bindings[0]),
    steps: steps.map(step => toStep(sealer, document._id, step)),
    takenOver,
  }
}

/** The operation was superseded while it was being claimed. Nobody works on it, so its successor need not wait. */
async function handBackSuperseded(ledger: Database, id: string, fences: readonly number[]): Promise<void> {
  for (const fence of fences) if (await handBack(ledger, id, fence)) return
}
