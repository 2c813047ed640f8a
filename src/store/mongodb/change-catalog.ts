import type { AnyBulkWriteOperation, ClientSession } from 'mongodb'
import type { JsonObject } from '../../protocol/json.ts'
import type { CatalogChanges, Revision } from '../../store.ts'
import { type CatalogOutcome, touchesCatalog } from '../pins.ts'
import { wakeNote } from './change-stream.ts'
import { type Database, type Transaction, transact } from './database.ts'
import type { RegistryDocument, RevisionDocument, ServiceDocument } from './documents.ts'
import { closeLanes } from './lanes.ts'

/** Of two that were decided from one version the second fails at the catalog's document, looks again and is refused. */
export async function changeCatalog(
  ledger: Database,
  version: number,
  changes: CatalogChanges,
  report: JsonObject | undefined,
): Promise<CatalogOutcome> {
  const touches = touchesCatalog(changes)
  const isStale = async (options: { session?: ClientSession }) =>
    touches && (await ledger.collections.catalog.findOne({ _id: 'catalog' }, options))?.version !== version
  if (await isStale({})) return refused
  const revisions = await writeTexts(ledger, version, changes.insertRevisions)
  const outcome = await transact(ledger, async tx => {
    const { session } = tx
    if (await isStale({ session })) return refused
    if (revisions.length > 0) await ledger.collections.revision.insertMany(revisions, { session })
    const put = await putServices(tx, changes.putServices)
    const deleted = await deleteUnused(tx, changes)
    await writeRegistries(tx, changes)
    const changed = revisions.length + put + deleted > 0
    if (changed) await raiseVersion(tx, report)
    return { written: true, changed }
  })
  const texts = revisions.map(({ text }) => text)
  // Once the change is written, nobody uses what others wrote for this version who lost against it or were cut off. Texts
  // that cannot be removed now take room, and are no reason to say that the change was not made.
  const unused = outcome.changed ? { version, _id: { $nin: texts } } : { _id: { $in: texts } }
  if (outcome.changed || texts.length > 0) await ledger.collections.revisionText.deleteMany(unused).catch(() => {})
  return outcome
}

const refused: CatalogOutcome = { written: false, changed: false }

async function putServices(tx: Transaction, services: CatalogChanges['putServices']): Promise<number> {
  const { service, revision } = tx.collections
  const { session } = tx
  if (services.length === 0) return 0
  const ids = services.map(({ serviceId }) => serviceId)
  const before = service.find({ _id: { $in: ids } }, { session, projection: { doc: 1 } })
  const known = new Map((await before.toArray()).map(({ _id, doc }) => [_id, doc]))
  const changed = services.filter(row => known.get(row.serviceId) !== JSON.stringify(row))
  if (changed.length === 0) return 0
  const named = revision.find({ _id: { $in: changed.map(row => row.revisionId) } }, { session, projection: { _id: 1 } })
  const stored = new Set((await named.toArray()).map(({ _id }) => _id))
  const writes = changed.map((row): AnyBulkWriteOperation<ServiceDocument> => {
    const { serviceId, revisionId, retiredAt } = row
    if (!stored.has(revisionId))
      throw new Error(`service ${serviceId} cannot be written: there is no revision ${revisionId}`)
    const replacement = { revision: revisionId, retired: retiredAt !== undefined, doc: JSON.stringify(row) }
    return { replaceOne: { filter: { _id: serviceId }, replacement, upsert: true } }
  })
  await service.bulkWrite(writes, { session })
  return writes.length
}

/** Services before revisions: one that stays needs its own. */
async function deleteUnused(tx: Transaction, { deleteServices, deleteRevisions }: CatalogChanges): Promise<number> {
  if (deleteServices.length + deleteRevisions.length === 0) return 0
  const { service, revision, revisionText } = tx.collections
  const { session } = tx
  const concerned = await revision
    .find({ $or: [{ service: { $in: [...deleteServices] } }, { _id: { $in: [...deleteRevisions] } }] }, { session })
    .toArray()
  const ids = concerned.map(({ _id }) => _id)
  await closeLanes(tx, ids)
  const used = await usedAmong(tx, ids)
  const needed = new Set(concerned.filter(({ _id }) => used.has(_id)).map(row => row.service))
  const free = deleteServices.filter(id => !needed.has(id))
  const services = await service.deleteMany({ _id: { $in: free }, retired: true }, { session })

  const current = await service.find({ revision: { $in: ids } }, { session, projection: { revision: 1 } }).toArray()
  const kept = new Set([...used, ...current.map(row => row.revision)])
  const wanted = new Set(deleteRevisions)
  const gone = concerned.filter(({ _id }) => wanted.has(_id) && !kept.has(_id))
  if (gone.length === 0) return services.deletedCount
  await revisionText.deleteMany({ _id: { $in: gone.map(({ text }) => text) } }, { session })
  const revisions = await revision.deleteMany({ _id: { $in: gone.map(({ _id }) => _id) } }, { session })
  return services.deletedCount + revisions.deletedCount
}

async function usedAmong({ collections, session }: Transaction, revisions: readonly string[]): Promise<Set<string>> {
  const wanted = { $match: { pins: { $in: [...revisions] } } }
  const found = await collections.instance
    .aggregate<{ _id: string }>([wanted, { $unwind: '$pins' }, { $group: { _id: '$pins' } }], { session })
    .toArray()
  return new Set(found.map(({ _id }) => _id))
}

async function writeRegistries(
  { collections: { registry }, session }: Transaction,
  { putRegistries, deleteRegistries }: CatalogChanges,
): Promise<void> {
  const writes = putRegistries.map(
    (row): AnyBulkWriteOperation<RegistryDocument> => ({
      replaceOne: { filter: { _id: row.name }, replacement: { doc: JSON.stringify(row) }, upsert: true },
    }),
  )
  if (writes.length > 0) await registry.bulkWrite(writes, { session })
  if (deleteRegistries.length > 0) await registry.deleteMany({ _id: { $in: [...deleteRegistries] } }, { session })
}

async function raiseVersion(tx: Transaction, report: JsonObject | undefined): Promise<void> {
  const { collections, session, now, storeId, nextSeq } = tx
  const said = report === undefined ? {} : { changedAt: now(), report: { $literal: JSON.stringify(report) } }
  const wake = { $literal: wakeNote(storeId, nextSeq(), { type: 'catalog' }) }
  const update = { version: { $add: ['$version', 1] }, wake, ...said }
  await collections.catalog.updateOne({ _id: 'catalog' }, [{ $set: update }], { session })
}

/**
 * Answers the rows of those that are not stored yet. Revisions may be large, and a transaction has to fit into the server's
 * cache: their texts are written before the transaction, under ids of their own that nobody knows until it is committed.
 */
async function writeTexts(
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

/** The driver cuts what is too large for one message; this bounds what is made ready at once. */
const batch = 500
