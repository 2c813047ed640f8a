/** Which operations nobody needs any more: kept with each change, so that a clean-up finds them by an index. */
import type { ClientSession } from 'mongodb'
import type { Binding, Change, Instance, Operation, Snapshot } from '../../store.ts'
import type { Database } from './database.ts'
import { keyOf } from './keys.ts'

/** `last` is the operation that was the latest one of the resource before it was written as it is now. */
export async function spendLast(
  { collections: { operation } }: Database,
  session: ClientSession,
  last: string | undefined,
  row: Instance | Binding,
): Promise<void> {
  if (last === undefined || (last === keyOf(row.lastOperationId) && row.phase !== 'deleted')) return
  const ended = { _id: last, finishedAt: { $exists: true }, spentAt: { $exists: false } }
  await operation.updateOne(ended, [{ $set: { spentAt: '$finishedAt' } }], { session })
}

/** An operation that a change writes, and what the change was decided from. */
interface Ending {
  readonly snapshot: Snapshot
  readonly change: Change
  readonly operation: Operation
}

/** Of an operation that is about to be written, after the rows of its instance and its bindings. */
export async function spentAtOf(ledger: Database, session: ClientSession, ending: Ending): Promise<number | undefined> {
  const { id, finishedAt } = ending.operation
  if (finishedAt === undefined) return undefined
  const row = await resourceOf(ledger, session, ending)
  return row?.phase !== 'deleted' && row?.last === keyOf(id) ? undefined : finishedAt
}

async function resourceOf(
  { collections }: Database,
  session: ClientSession,
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
