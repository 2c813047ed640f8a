import type { Document } from 'mongodb'
import type { Binding, Change, Instance, Operation, Snapshot } from '../../store.ts'
import { pinsOf } from '../pins.ts'
import { emptied } from '../sealing.ts'
import { wakeUpsOf } from '../wake-ups.ts'
import { wakeNote } from './change-stream.ts'
import type { Database, Transaction } from './database.ts'
import type { OperationDocument, StepDocument } from './documents.ts'
import { keyOf } from './keys.ts'
import { pinTo } from './lanes.ts'
import { putNotes } from './notes.ts'
import { actedOf, fromBinding, fromHistory, fromInstance, fromOperation, fromStep, toStep } from './rows.ts'
import type { Reading } from './snapshot.ts'

/** Writes what was decided from the reading, as late as possible: from its first write on, a transaction holds locks. */
export async function applyChange(tx: Transaction, reading: Reading, change: Change): Promise<void> {
  const { instanceId, snapshot, lock } = reading
  const { instance, bindings = [], operations = [], deleteOperations = [], history = [] } = change
  requireInstance(instanceId, snapshot.instance !== undefined || instance !== undefined, change)
  const { collections, sealer, session } = tx
  if (instance !== undefined) await pinTo(tx, newPins(snapshot.instance, instance))
  await collections.instance.updateOne({ _id: keyOf(instanceId) }, raiseLock(tx, instanceId, lock + 1, change), {
    upsert: true,
    session,
  })
  // One by one: nearly every change has one of each, and the driver's bulk writes hide which error it was.
  const before = snapshot.instance
  if (instance !== undefined) await spendLast(tx, before && keyOf(before.lastOperationId), instance)
  if (instance?.phase === 'deleted') await emptyEnded(tx, { instance: keyOf(instanceId) })
  for (const binding of bindings) {
    const update = [replaceWith(fromBinding(sealer, binding), keepSeq(tx))]
    const before = await collections.binding.findOneAndUpdate({ _id: keyOf(binding.instanceId, binding.id) }, update, {
      upsert: true,
      projection: { last: 1 },
      returnDocument: 'before',
      session,
    })
    await spendLast(tx, before?.last, binding)
    const resource = keyOf(binding.instanceId, binding.id)
    if (binding.phase === 'deleted') await emptyEnded(tx, { instance: keyOf(instanceId), resource })
  }
  for (const operation of operations) {
    const { spentAt, isEmptied } = await endOf(tx, { snapshot, change, operation })
    const kept = isEmptied ? { sealed: emptied.operation } : {}
    const row = { ...fromOperation(sealer, operation), ...kept, wake: wakeOf(tx, operation), spentAt }
    const begun = change.copySteps?.to === operation.id ? await doneSteps(tx, change.copySteps) : []
    const steps = isEmptied ? emptiedSteps : { $ifNull: ['$steps', { $literal: begun }] }
    const update = [replaceWith(row, { ...keepSeq(tx), steps })]
    await collections.operation.updateOne({ _id: keyOf(operation.id) }, update, { upsert: true, session })
  }
  await putNotes(tx, change.notes ?? [])
  if (deleteOperations.length > 0)
    await collections.operation.deleteMany({ _id: { $in: deleteOperations.map(id => keyOf(id)) } }, { session })
  for (const [place, event] of history.entries()) {
    const document = { _id: tx.nextSeq(), ...fromHistory(sealer, event), lock: lock + 1, place }
    const acted = actedOf(event, document._id)
    const row = { ...document, ...(acted && { acted }) }
    await collections.history.insertOne(row, { session })
  }
}

/** What is sealed of a step belongs to its operation: it is sealed again for the other one. */
async function doneSteps(
  { collections, sealer, session }: Transaction,
  copy: NonNullable<Change['copySteps']>,
): Promise<readonly StepDocument[]> {
  const [from, to] = [keyOf(copy.from), keyOf(copy.to)]
  const found = await collections.operation.findOne({ _id: from }, { session, projection: { steps: 1 } })
  const done = found?.steps.filter(step => step.done) ?? []
  return done.map(step => fromStep(sealer, to, toStep(sealer, from, step)))
}

/** What it was pinned to before is still stored. */
function newPins(before: Instance | undefined, instance: Instance): string[] {
  const held = before === undefined ? [] : pinsOf(before)
  return pinsOf(instance).filter(id => !held.includes(id))
}

/** The lock is the instance's: rows of another one would be written without holding its own. */
function requireInstance(
  instanceId: string,
  exists: boolean,
  { instance, bindings = [], operations = [] }: Change,
): void {
  const rows = [
    ...(instance === undefined ? [] : [['instance', instance.id, instance.id] as const]),
    ...bindings.map(row => ['binding', row.id, row.instanceId] as const),
    ...operations.map(row => ['operation', row.id, row.instanceId] as const),
  ]
  for (const [kind, id, owner] of rows) {
    if (owner !== instanceId)
      throw new Error(
        `${kind} ${id} cannot be written: it belongs to instance ${owner}, and the decision is about ${instanceId}`,
      )
    if (!exists) throw new Error(`${kind} ${id} cannot be written: there is no instance ${instanceId}`)
  }
}

function raiseLock(ledger: Database, id: string, lock: number, { instance }: Change): Document[] {
  const kept = { ...keepSeq(ledger), lock }
  if (instance === undefined) return [{ $set: { ...kept, id: { $literal: id } } }]
  return [replaceWith(fromInstance(ledger.sealer, instance), kept)]
}

/** A whole row in the place of what was there, or new; `kept` are the fields that outlive the row. */
function replaceWith(row: object, kept: Document): Document {
  return { $replaceWith: { $mergeObjects: [{ $literal: row }, { _id: '$_id', ...kept }] } }
}

function keepSeq(ledger: Database): Document {
  return { seq: { $ifNull: ['$seq', ledger.nextSeq()] } }
}

function wakeOf({ storeId, nextSeq }: Database, operation: Operation): string | undefined {
  const [wakeUp] = wakeUpsOf({ operations: [operation] })
  return wakeUp && wakeNote(storeId, nextSeq(), wakeUp)
}

// Which operations nobody needs any more is kept with each change, so that a clean-up finds them by an index.

/** `last` is the operation that was the latest one of the resource before it was written as it is now. */
async function spendLast(tx: Transaction, last: string | undefined, row: Instance | Binding): Promise<void> {
  if (last === undefined || (last === keyOf(row.lastOperationId) && row.phase !== 'deleted')) return
  const ended = { _id: last, finishedAt: { $exists: true }, spentAt: { $exists: false } }
  const { session, collections } = tx
  await collections.operation.updateOne(ended, [{ $set: { spentAt: '$finishedAt' } }], { session })
}

/** An operation that a change writes, and what the change was decided from. */
interface Ending {
  readonly snapshot: Snapshot
  readonly change: Change
  readonly operation: Operation
}

/** Of an operation that is about to be written, after the rows of its instance and its bindings. */
async function endOf(
  tx: Transaction,
  ending: Ending,
): Promise<{ readonly spentAt?: number; readonly isEmptied: boolean }> {
  const { snapshot, change, operation } = ending
  if (operation.finishedAt === undefined) return { isEmptied: false }
  const row = await resourceOf(tx, ending)
  const isDeleted = row?.phase === 'deleted'
  const { phase } = change.instance ?? snapshot.instance ?? {}
  return {
    spentAt: !isDeleted && row?.last === keyOf(operation.id) ? undefined : operation.finishedAt,
    isEmptied: isDeleted || phase === 'deleted',
  }
}

// What operations have kept goes with what they were about. What is active may still need it, as a sweep does.

const emptiedSteps: Document = {
  $map: { input: { $ifNull: ['$steps', []] }, in: { $mergeObjects: ['$$this', { sealed: emptied.step }] } },
}

/** Those that have ended before. */
async function emptyEnded(
  { collections, session }: Transaction,
  of: Partial<Pick<OperationDocument, 'instance' | 'resource'>>,
): Promise<void> {
  const keeping = [{ sealed: { $ne: emptied.operation } }, { steps: { $elemMatch: { sealed: { $ne: emptied.step } } } }]
  const ended = { ...of, finishedAt: { $exists: true }, $or: keeping }
  const empty = { sealed: emptied.operation, steps: emptiedSteps }
  await collections.operation.updateMany(ended, [{ $set: empty }], { session })
}

async function resourceOf(
  { collections, session }: Transaction,
  { snapshot, change, operation: { instanceId, bindingId } }: Ending,
): Promise<{ readonly phase: string; readonly last: string } | null> {
  const known =
    bindingId === undefined ? (change.instance ?? snapshot.instance) : bindingIn(snapshot, change, bindingId)
  if (known !== undefined) return { phase: known.phase, last: keyOf(known.lastOperationId) }
  if (bindingId === undefined) return null
  return collections.binding.findOne(
    { _id: keyOf(instanceId, bindingId) },
    { session, projection: { phase: 1, last: 1 } },
  )
}

function bindingIn({ binding }: Snapshot, { bindings = [] }: Change, id: string): Binding | undefined {
  return bindings.findLast(written => written.id === id) ?? (binding?.id === id ? binding : undefined)
}
