/** What a worker writes under its lease, except for the end. */
import type { ClientSession, Document, Filter } from 'mongodb'
import type { Checkpoint, Lease, Parking, Step } from '../../store.ts'
import { wakeNote } from './change-stream.ts'
import type { Database } from './database.ts'
import type { OperationDocument } from './documents.ts'
import { isCode, serverCodes } from './driver.ts'
import { keyOf } from './keys.ts'
import { fromStep, placeOfBinding, placeOfInstance, toText } from './rows.ts'

/** The guard of every write of a worker. */
export function heldBy(operation: string, fence: number): Filter<OperationDocument> {
  return { _id: operation, fence, state: 'running' }
}

export async function renew(ledger: Database, leases: readonly Lease[], leaseMs: number): Promise<readonly Lease[]> {
  if (leases.length === 0) return []
  const { operation } = ledger.collections
  const now = ledger.now()
  const until = { $add: [now, leaseMs] }
  const standing = (some: readonly Lease[]): Filter<OperationDocument> => ({
    $or: some.map(({ operationId, fence }) => heldBy(keyOf(operationId), fence)),
    $expr: { $gt: ['$leaseUntil', now] },
  })
  const extend = (some: readonly Lease[], maxTimeMS: number) =>
    operation.updateMany(standing(some), [{ $set: { leaseUntil: until, dueAt: until } }], { maxTimeMS })
  try {
    if ((await extend(leases, patienceMs)).matchedCount === leases.length) return leases
  } catch (error) {
    if (!isCode(error, serverCodes.maxTimeExpired)) throw error
    // A transaction that was cut off holds one of them until the server ends it: the others must not be lost for that.
    const apart = leases.map(lease =>
      extend([lease], ledger.timeoutMs).then(({ matchedCount }) => matchedCount > 0, notOnTimeout),
    )
    const extended = await Promise.all(apart)
    return leases.filter((_, index) => extended[index])
  }
  // All that stood were extended: those that stand now.
  const held = await operation.find(standing(leases)).project<Held>({ fence: 1 }).toArray()
  const fences = new Map(held.map(({ _id, fence }) => [_id, fence]))
  return leases.filter(({ operationId, fence }) => fences.get(keyOf(operationId)) === fence)
}

type Held = Pick<OperationDocument, '_id' | 'fence'>

export async function writeCheckpoint(ledger: Database, lease: Lease, checkpoint: Checkpoint): Promise<boolean> {
  const { state, step, description } = checkpoint
  const progress = step?.state === 'done' ? { losses: 0, checkpointAt: ledger.now() } : {}
  const writing = { lease, step, update: { description: literal(description), ...progress } }
  if (state === undefined) return (await writeHeld(ledger, writing)) !== undefined
  return ledger.transactions.run(async session => {
    const held = await writeHeld(ledger, writing, session)
    if (held === undefined) return false
    const { collections, sealer } = ledger
    if (held.binding === undefined) {
      const sealedState = sealer.seal(state, placeOfInstance('sealedState', held.instance))
      await collections.instance.updateOne({ _id: held.instance }, { $set: { sealedState } }, { session })
    } else {
      const sealedState = sealer.seal(state, placeOfBinding('sealedState', held.binding))
      await collections.binding.updateOne({ _id: held.binding }, { $set: { sealedState } }, { session })
    }
    return true
  })
}

export async function park(ledger: Database, lease: Lease, parking: Parking): Promise<boolean> {
  const { until, description, step } = parking
  const update = { ...queuedAt(ledger, until), description: literal(description) }
  return (await writeHeld(ledger, { lease, step, update })) !== undefined
}

/** Answers whether anybody can start because of it. `operation` is the key of the operation. */
export async function handBack(ledger: Database, operation: string, fence: number): Promise<boolean> {
  const { operation: operations } = ledger.collections
  const { maxTimeMS, now } = { maxTimeMS: ledger.timeoutMs, now: ledger.now() }
  const queued = await operations.updateOne(heldBy(operation, fence), [{ $set: queuedAt(ledger, now) }], { maxTimeMS })
  if (queued.matchedCount > 0) return true

  const superseded = { _id: operation, fence, state: 'superseded' } as const
  if ((await operations.findOne(superseded, { projection: { _id: 1 } })) === null) return false
  return ledger.transactions.run(async session => {
    const ended = await operations.updateOne(superseded, [{ $set: { leaseUntil: now } }], { session })
    if (ended.matchedCount === 0) return false
    const start = { $min: ['$notBefore', now] }
    const successor = { drains: operation, active: true, state: 'queued' } as const
    const wake = { $literal: noteOfWork(ledger) }
    await operations.updateMany(successor, [{ $set: { notBefore: start, dueAt: start, wake } }], { session })
    return true
  })
}

interface HeldWriting {
  readonly lease: Lease
  readonly step?: Step
  readonly update: Document
}

/** One atomic update of the operation, its step included; undefined means that the lease is lost. */
async function writeHeld(
  ledger: Database,
  { lease: { operationId, fence }, step, update }: HeldWriting,
  session?: ClientSession,
): Promise<Pick<OperationDocument, 'instance' | 'binding'> | undefined> {
  const { operation } = ledger.collections
  const options = { maxTimeMS: ledger.timeoutMs, session }
  const key = keyOf(operationId)
  const held = heldBy(key, fence)
  const row = step && fromStep(ledger.sealer, key, step)
  const open = { ...held, steps: row && { $not: { $elemMatch: { key: row.key, done: true } } } }
  const steps = row && withStep(row)
  const written = await operation.findOneAndUpdate(open, [{ $set: { ...update, steps, ...touch } }], {
    ...options,
    projection: { instance: 1, binding: 1 },
  })
  if (written !== null) return written
  if (step !== undefined && (await operation.findOne(held, { ...options, projection: { _id: 1 } })) !== null)
    throw new Error(`step ${step.name} of operation ${operationId} is done: it cannot be written again`)
  return undefined
}

/**
 * A transaction under a lease writes to the operation even if nothing of it changes: only a write is refused when the
 * operation was taken over or superseded since the transaction's first look.
 */
export const touch: Document = { touched: { $add: [{ $ifNull: ['$touched', 0] }, 1] } }

/** In the place of its last attempt, or at the end. */
function withStep(row: object & { readonly key: string }): Document {
  const literal = { $literal: row }
  const replaced = { $map: { input: '$steps', in: { $cond: [{ $eq: ['$$this.key', row.key] }, literal, '$$this'] } } }
  return { $cond: [{ $in: [row.key, '$steps.key'] }, replaced, { $concatArrays: ['$steps', [literal]] }] }
}

function queuedAt(ledger: Database, time: number | object): Document {
  return {
    state: 'queued',
    notBefore: time,
    dueAt: time,
    leaseOwner: '$$REMOVE',
    leaseUntil: '$$REMOVE',
    wake: { $literal: noteOfWork(ledger) },
  }
}

function noteOfWork({ storeId, nextSeq }: Database): string {
  return wakeNote(storeId, nextSeq(), { type: 'work' })
}

function literal(words: string | undefined): Document | undefined {
  return words === undefined ? undefined : { $literal: toText(words) }
}

export function notOnTimeout(error: unknown): false {
  if (!isCode(error, serverCodes.maxTimeExpired)) throw error
  return false
}

/** Far longer than a write takes, far shorter than a transaction that was cut off holds a document. */
export const patienceMs = 2000
