import type { Collection, Db, Document, IndexDescription } from 'mongodb'
import { StoreOpenError } from '../../store.ts'
import type { Collections } from './collections.ts'
import { isCode, serverCodes } from './driver.ts'
import { listedBinding, listedInstance, listedOperation } from './rows.ts'

/** Raised with every change that an older release could not work with. */
const schemaVersion = 3

/**
 * Makes what is missing; run by several replicas at once, or again, it does no harm. All collections are made here, since
 * to make one inside a transaction conflicts with every other transaction.
 */
export async function prepareCollections(db: Db, collections: Collections, name: string): Promise<void> {
  const { meta } = collections
  const { version } = (await meta.findOne({ _id: 'ledger' })) ?? {}
  if (version === undefined) await refuseForeign(db, collections, name)
  else if (version > schemaVersion) {
    throw new StoreOpenError(
      'newer-version',
      `${name} was written by a newer release (its schema is ${version}, this release knows ${schemaVersion}): ` +
        'start that release, or put back the backup made before the upgrade',
    )
  }
  if (version !== undefined && version < 3) await addListed(collections)
  await Promise.all(
    Object.entries(collections).map(([key, collection]) => {
      const wanted = indexes[key as keyof Collections]
      return wanted === undefined
        ? createCollection(db, collection.collectionName)
        : collection.createIndexes([...wanted])
    }),
  )
  await collections.catalog.updateOne({ _id: 'catalog' }, { $setOnInsert: { version: 0 } }, { upsert: true })
  // Last, so that who finds it finds the rest.
  const made = { $setOnInsert: { fence: 0 }, $max: { version: schemaVersion } }
  await meta.updateOne({ _id: 'ledger' }, made, { upsert: true })
}

const active = { active: true }
const live = { 'listed.live': true }
const unready = { 'listed.unready': true }

const indexes: Partial<Record<keyof Collections, readonly IndexDescription[]>> = {
  instance: [
    { name: 'observe', key: { observeAt: 1, seq: 1 }, partialFilterExpression: { observeAt: { $exists: true } } },
    { name: 'deleted', key: { deletedAt: 1 }, partialFilterExpression: { deletedAt: { $exists: true } } },
    { name: 'pins', key: { pins: 1 }, partialFilterExpression: { pins: { $exists: true } } },
    { name: 'list', key: { 'listed.createdAt': 1, _id: 1 }, partialFilterExpression: live },
    {
      name: 'list_by_service',
      key: { 'listed.service': 1, 'listed.createdAt': 1, _id: 1 },
      partialFilterExpression: live,
    },
    { name: 'list_by_phase', key: { phase: 1, 'listed.createdAt': 1, _id: 1 }, partialFilterExpression: unready },
    {
      name: 'list_by_revision',
      key: { 'listed.revision': 1, 'listed.createdAt': 1, _id: 1 },
      partialFilterExpression: { 'listed.revision': { $exists: true } },
    },
  ],
  binding: [
    { name: 'by_instance', key: { instance: 1, seq: 1 } },
    { name: 'by_phase', key: { instance: 1, phase: 1 } },
    { name: 'list', key: { 'listed.createdAt': 1, _id: 1 }, partialFilterExpression: live },
    {
      name: 'list_by_service',
      key: { 'listed.service': 1, 'listed.createdAt': 1, _id: 1 },
      partialFilterExpression: live,
    },
    { name: 'list_by_phase', key: { phase: 1, 'listed.createdAt': 1, _id: 1 }, partialFilterExpression: unready },
    { name: 'deleted', key: { deletedAt: 1 }, partialFilterExpression: { deletedAt: { $exists: true } } },
  ],
  operation: [
    { name: 'one_active', key: { resource: 1 }, unique: true, partialFilterExpression: active },
    { name: 'active_by_instance', key: { instance: 1, binding: 1 }, partialFilterExpression: active },
    { name: 'due', key: { dueAt: 1, seq: 1 }, partialFilterExpression: active },
    { name: 'drains', key: { drains: 1 }, partialFilterExpression: { drains: { $exists: true } } },
    {
      name: 'spent',
      key: { ofBinding: 1, state: 1, spentAt: 1 },
      partialFilterExpression: { spentAt: { $exists: true } },
    },
    { name: 'list', key: { 'listed.acceptedAt': 1, _id: 1 } },
    { name: 'list_by_instance', key: { instance: 1, 'listed.acceptedAt': 1, _id: 1 } },
    {
      name: 'list_unsuccessful',
      key: { state: 1, 'listed.acceptedAt': 1, _id: 1 },
      partialFilterExpression: { 'listed.unsuccessful': true },
    },
    {
      name: 'list_finished',
      key: { finishedAt: 1, _id: 1 },
      partialFilterExpression: { finishedAt: { $exists: true } },
    },
  ],
  history: [{ name: 'by_instance', key: { instance: 1, lock: 1, place: 1 } }],
  claim: [
    { name: 'by_resource', key: { resource: 1 } },
    { name: 'by_instance', key: { instance: 1 } },
  ],
  service: [{ name: 'by_revision', key: { revision: 1 } }],
  revision: [{ name: 'by_service', key: { service: 1 } }],
  revisionText: [{ name: 'by_version', key: { version: 1 } }],
}

/** A collection of that name which is not ours would be mixed up with the ledger. */
async function refuseForeign(db: Db, collections: Collections, name: string): Promise<void> {
  const ours = Object.values(collections).map(({ collectionName }) => collectionName)
  for (const { name: existing } of await db.listCollections({ name: { $in: ours } }).toArray()) {
    // An empty one may be of a replica that is being opened at this moment, or of an opening that was cut off.
    if ((await db.collection(existing).findOne({})) === null) continue
    if ((await collections.meta.findOne({ _id: 'ledger' })) !== null) return
    throw new StoreOpenError(
      'foreign-collections',
      `${name} has a collection ${existing} that is not a ledger's: name another database, or another schema`,
    )
  }
}

async function createCollection(db: Db, name: string): Promise<void> {
  try {
    await db.createCollection(name)
  } catch (error) {
    if (!isCode(error, serverCodes.namespaceExists)) throw error
  }
}

/** Gives the documents of the schemas before the third what lists go by. Interrupted, or done twice, it does no harm. */
async function addListed({ instance, binding, operation }: Collections): Promise<void> {
  await add(instance, row => listedInstance(JSON.parse(row.doc)))
  await add(binding, row => listedBinding(JSON.parse(row.doc)))
  await add(operation, row => listedOperation({ ...JSON.parse(row.doc), state: row.state }))
  await operation.dropIndex('by_instance').catch(error => {
    if (!isCode(error, serverCodes.indexNotFound)) throw error
  })
}

async function add<Row extends Document>(
  rows: Collection<Row>,
  listedOf: (row: { readonly doc: string; readonly state: never }) => object,
): Promise<void> {
  const collection = rows as unknown as Collection
  const old = collection.find(
    { listed: { $exists: false }, doc: { $exists: true } },
    { projection: { doc: 1, state: 1 } },
  )
  // What was written meanwhile has it already, or another text.
  for await (const { _id, doc, state } of old)
    await collection.updateOne(
      { _id, doc, listed: { $exists: false } },
      { $set: { listed: listedOf({ doc, state } as never) } },
    )
}
