import type { AnyBulkWriteOperation, ClientSession } from 'mongodb'
import type { JsonObject } from '../../protocol/json.ts'
import type { CatalogChanges } from '../../store.ts'
import { type CatalogOutcome, touchesCatalog } from '../pins.ts'
import { wakeNote } from './change-stream.ts'
import type { Database } from './database.ts'
import type { RegistryDocument, ServiceDocument } from './documents.ts'
import { closeLanes } from './lanes.ts'
import { removeStrayTexts, removeTexts, writeTexts } from './revision-texts.ts'

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
  const outcome = await ledger.transactions.run(async session => {
    if (await isStale({ session })) return refused
    if (revisions.length > 0) await ledger.collections.revision.insertMany(revisions, { session })
    const put = await putServices(ledger, session, changes.putServices)
    const deleted = await deleteUnused(ledger, session, changes)
    await writeRegistries(ledger, session, changes)
    const changed = revisions.length + put + deleted > 0
    if (changed) await raiseVersion(ledger, session, report)
    return { written: true, changed }
  })
  const tidy = outcome.changed ? removeStrayTexts(ledger, version, revisions) : removeTexts(ledger, revisions)
  // What cannot be removed now takes room, and is no reason to say that the change was not made.
  await tidy.catch(() => {})
  return outcome
}

const refused: CatalogOutcome = { written: false, changed: false }

async function putServices(
  { collections: { service, revision } }: Database,
  session: ClientSession,
  services: CatalogChanges['putServices'],
): Promise<number> {
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
async function deleteUnused(
  ledger: Database,
  session: ClientSession,
  { deleteServices, deleteRevisions }: CatalogChanges,
): Promise<number> {
  if (deleteServices.length + deleteRevisions.length === 0) return 0
  const { service, revision, revisionText } = ledger.collections
  const concerned = await revision
    .find({ $or: [{ service: { $in: [...deleteServices] } }, { _id: { $in: [...deleteRevisions] } }] }, { session })
    .toArray()
  const ids = concerned.map(({ _id }) => _id)
  await closeLanes(ledger, session, ids)
  const used = await usedAmong(ledger, session, ids)
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

async function usedAmong(ledger: Database, session: ClientSession, revisions: readonly string[]): Promise<Set<string>> {
  const wanted = { $match: { pins: { $in: [...revisions] } } }
  const found = await ledger.collections.instance
    .aggregate<{ _id: string }>([wanted, { $unwind: '$pins' }, { $group: { _id: '$pins' } }], { session })
    .toArray()
  return new Set(found.map(({ _id }) => _id))
}

async function writeRegistries(
  { collections: { registry } }: Database,
  session: ClientSession,
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

async function raiseVersion(
  { collections: { catalog }, now, storeId, nextSeq }: Database,
  session: ClientSession,
  report: JsonObject | undefined,
): Promise<void> {
  const said = report === undefined ? {} : { changedAt: now(), report: { $literal: JSON.stringify(report) } }
  const wake = { $literal: wakeNote(storeId, nextSeq(), { type: 'catalog' }) }
  await catalog.updateOne({ _id: 'catalog' }, [{ $set: { version: { $add: ['$version', 1] }, wake, ...said } }], {
    session,
  })
}
