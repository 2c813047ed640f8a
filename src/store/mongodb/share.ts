import { decideShared, type SharedResource, type SharedVerdict, type SharedWish } from '../../domain/shared-claim.ts'
import type { Lease } from '../../store.ts'
import { type Database, type Transaction, transact } from './database.ts'
import { keyOf } from './keys.ts'
import { heldBy, touch } from './progress.ts'

export function share(
  ledger: Database,
  { operationId, fence }: Lease,
  key: string,
  wish: SharedWish,
): Promise<SharedVerdict['answer'] | undefined> {
  const { operation, shared, claim } = ledger.collections
  const resource = keyOf(key)
  return transact(ledger, async tx => {
    const { session } = tx
    const held = await operation.findOneAndUpdate(heldBy(keyOf(operationId), fence), [{ $set: touch }], {
      session,
      projection: { instance: 1 },
    })
    if (held === null) return undefined
    const found = await shared.findOne({ _id: resource }, { session })
    const own = keyOf(key, held.instance)
    // Two are enough to tell: decisions only ask whether there is another, and a popular resource has very many claims.
    const claims = await claim.find({ resource }, { session, limit: 2, projection: { _id: 1 } }).toArray()
    const row: SharedResource = { key, phase: found?.phase ?? 'absent', holder: found?.holder }
    const verdict = decideShared(wish, {
      row,
      operationId,
      otherClaims: claims.filter(({ _id }) => _id !== own).length,
      holderAlive: await isAlive(tx, row.holder, operationId),
    })
    await writeShared(tx, verdict.row, found?.lock)
    if (verdict.claim === true)
      await claim.updateOne(
        { _id: own },
        { $setOnInsert: { resource, instance: held.instance } },
        { session, upsert: true },
      )
    if (verdict.claim === false) await claim.deleteOne({ _id: own }, { session })
    return verdict.answer
  })
}

/** Writes the lock even where the row stays as it is: two that release at once must not both see the other's claim. */
async function writeShared(
  { collections: { shared }, session }: Transaction,
  { key, phase, holder }: SharedResource,
  lock = 0,
): Promise<void> {
  const _id = keyOf(key)
  if (phase === 'absent') await shared.deleteOne({ _id }, { session })
  else await shared.replaceOne({ _id }, { key, lock: lock + 1, phase, holder }, { session, upsert: true })
}

/** The holder may still be working: it is active, or what superseded it waits for its lease to end. */
async function isAlive(
  { collections: { operation }, now, session }: Transaction,
  holder: string | undefined,
  caller: string,
): Promise<boolean> {
  if (holder === undefined || holder === caller) return false
  const alive = await operation.findOne(
    { _id: keyOf(holder), $or: [{ active: true }, { $expr: { $gt: ['$leaseUntil', now()] } }] },
    { session, projection: { _id: 1 } },
  )
  return alive !== null
}
