/**
 * Revisions may be large, and a transaction has to fit into the server's cache: their texts are written before the
 * transaction of their change, under ids of their own that nobody knows until it is committed.
 */
import type { ObjectId } from 'mongodb'
import type { Revision } from '../../store.ts'
import type { Database } from './database.ts'
import type { RevisionDocument } from './documents.ts'

/** The rows of those that are not stored yet. */
export async function writeTexts(
  { collections, nextSeq }: Database,
  version: number,
  revisions: readonly Revision[],
): Promise<RevisionDocument[]> {
  const missing = new Map(revisions.map(revision => [revision.id, revision]))
  if (missing.size === 0) return []
  const stored = collections.revision.find({ _id: { $in: [...missing.keys()] } }, { projection: { _id: 1 } })
  for (const { _id } of await stored.toArray()) missing.delete(_id)
  const texts = [...missing.values()].map(row => ({ row, _id: nextSeq() }))
  for (let first = 0; first < texts.length; first += batch) {
    const some = texts.slice(first, first + batch)
    await collections.revisionText.insertMany(some.map(({ row, _id }) => ({ _id, version, doc: JSON.stringify(row) })))
  }
  return texts.map(({ row, _id }) => ({ _id: row.id, service: row.serviceId, text: _id }))
}

/** After a change of that version was written: what others wrote who lost against it, or were cut off, has no use. */
export async function removeStrayTexts(
  { collections }: Database,
  version: number,
  kept: readonly RevisionDocument[],
): Promise<void> {
  await collections.revisionText.deleteMany({ version, _id: { $nin: idsOf(kept) } })
}

/** After a change that was refused. */
export async function removeTexts({ collections }: Database, rows: readonly RevisionDocument[]): Promise<void> {
  if (rows.length > 0) await collections.revisionText.deleteMany({ _id: { $in: idsOf(rows) } })
}

function idsOf(rows: readonly RevisionDocument[]): ObjectId[] {
  return rows.map(({ text }) => text)
}

/** The driver cuts what is too large for one message; this bounds what is made ready at once. */
const batch = 500
