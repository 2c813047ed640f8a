import { randomInt } from 'node:crypto'
import type { Document } from 'mongodb'
import type { Claim, Claims } from '../../store.ts'
import type { Database } from './database.ts'
import type { BindingDocument, InstanceDocument, OperationDocument } from './documents.ts'
import { isCode, serverCodes } from './driver.ts'
import { handBack } from './progress.ts'
import { toBinding, toInstance, toOperation, toStep } from './rows.ts'

/**
 * A claim first takes the operations and then numbers them: a fence is drawn only while its lease is held, so a lease that
 * begins after another has ended has the higher number, whatever came between. A claim that is cut off in the middle has
 * taken leases that nobody uses; they run out like any other.
 *
 * No transaction: a multi-document one would make every replica's claim wait for one that was cut off. What is not
 * confirmed by a majority yet is confirmed with the numbers, which are written last.
 */
export async function claimDue(ledger: Database, owner: string, max: number, leaseMs: number): Promise<Claims> {
  const wanted = Math.max(0, max)
  const { now, queue } = await readQueue(ledger, wanted)
  const due = queue.slice(0, wanted).filter(({ dueAt }) => dueAt <= now)
  const ids = due.map(({ _id }) => _id)
  const claims = ids.length === 0 ? [] : await claimThese(ledger, ids, owner, leaseMs)
  const claimed = new Set(claims.map(({ key }) => key))
  const next = queue.find(({ _id }) => !claimed.has(_id))
  return { claims: claims.map(({ claim }) => claim), now, nextAt: next?.dueAt }
}

interface Queued {
  readonly _id: string
  readonly dueAt: number
}

interface KeyedClaim {
  readonly key: string
  readonly claim: Claim
}

/** The time, and the first of the active operations: as many as are wanted and one more, which is the next to be due. */
async function readQueue(ledger: Database, wanted: number): Promise<{ now: number; queue: readonly Queued[] }> {
  const [found] = await ledger.collections.meta
    .aggregate<{ now: number; queue: Queued[] }>(queuePipeline(ledger, wanted + 1), { readConcern: { level: 'local' } })
    .toArray()
  if (found === undefined) throw new Error('the ledger has lost its meta document: put back a backup')
  return found
}

function queuePipeline({ collections, now }: Database, limit: number): Document[] {
  const pipeline = [
    { $match: { active: true, dueAt: { $gte: 0 } } },
    { $sort: { dueAt: 1, seq: 1 } },
    { $limit: limit },
    { $project: { dueAt: 1 } },
  ]
  return [
    { $match: { _id: 'ledger' } },
    { $project: { _id: 0, now: now() } },
    { $lookup: { from: collections.operation.collectionName, pipeline, as: 'queue' } },
  ]
}

/** Claims those that are still due, in the order of the ids. */
async function claimThese(
  ledger: Database,
  ids: readonly string[],
  owner: string,
  leaseMs: number,
): Promise<readonly KeyedClaim[]> {
  const { meta, operation } = ledger.collections
  const mark = -1 - randomInt(2 ** 47)
  await take(ledger, ids, mark, owner, leaseMs)
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
  if (numbered === null) throw new Error('the ledger has lost its meta document: put back a backup')
  const order = ids.filter(id => running.has(id))
  const first = numbered.fence - order.length + 1
  await operation.updateMany({ _id: { $in: order }, fence: mark, state: 'running' }, [
    { $set: { fence: { $add: [first, { $indexOfArray: [order, '$_id'] }] } } },
  ])
  const claims = await readClaims(ledger, order, first)
  const claimed = new Set(claims.map(({ key }) => key))
  for (const [index, id] of order.entries())
    if (!claimed.has(id)) await handBackSuperseded(ledger, id, [mark, first + index])
  return claims
}

async function take(
  ledger: Database,
  ids: readonly string[],
  mark: number,
  owner: string,
  leaseMs: number,
): Promise<void> {
  const { operation } = ledger.collections
  const now = ledger.now()
  const update = leaseUpdate(now, mark, owner, leaseMs)
  const takeSome = (some: readonly string[], maxTimeMS: number) =>
    operation.updateMany({ _id: { $in: [...some] }, active: true, $expr: { $lte: ['$dueAt', now] } }, update, {
      maxTimeMS,
      writeConcern: { w: 1 },
    })
  try {
    await takeSome(ids, patienceMs)
  } catch (error) {
    if (!isCode(error, serverCodes.maxTimeExpired)) throw error
    // A transaction that was cut off holds one of them until the server ends it: the others must not wait for that.
    await Promise.all(ids.map(id => takeSome([id], patienceMs).catch(ignoreTimeout)))
  }
}

function leaseUpdate(now: object, mark: number, owner: string, leaseMs: number): Document[] {
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

async function readClaims(ledger: Database, ids: readonly string[], first: number): Promise<readonly KeyedClaim[]> {
  const found = await ledger.collections.operation
    .aggregate<ClaimedDocument>(claimPipeline(ledger, ids, first))
    .toArray()
  return found.map(document => {
    const [instance, binding] = [document.instances[0], document.bindings[0]]
    const row = instance && toInstance(instance)
    if (row === undefined) throw new Error(`the operation ${document._id} has no instance: put back a backup`)
    return {
      key: document._id,
      claim: {
        operation: toOperation(document),
        instance: row,
        ...(binding === undefined ? {} : { binding: toBinding(binding) }),
        steps: document.steps.map(toStep),
        takenOver: document.takenOver === true,
      },
    }
  })
}

function claimPipeline({ collections }: Database, ids: readonly string[], first: number): Document[] {
  const lookup = (as: string, from: { readonly collectionName: string }, localField: string) => ({
    $lookup: { from: from.collectionName, localField, foreignField: '_id', as },
  })
  const fence = { $gte: first, $lt: first + ids.length }
  return [
    { $match: { _id: { $in: [...ids] }, fence, state: 'running' } },
    { $sort: { fence: 1 } },
    lookup('instances', collections.instance, 'instance'),
    lookup('bindings', collections.binding, 'binding'),
  ]
}

/** The operation was superseded while it was being claimed. Nobody works on it, so its successor need not wait. */
async function handBackSuperseded(ledger: Database, id: string, fences: readonly number[]): Promise<void> {
  for (const fence of fences) if (await handBack(ledger, id, fence)) return
}

function ignoreTimeout(error: unknown): void {
  if (!isCode(error, serverCodes.maxTimeExpired)) throw error
}

/** Far longer than a write takes, far shorter than a transaction that was cut off holds a document. */
const patienceMs = 2000
