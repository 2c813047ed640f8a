import type { Collection, Db, Document, IndexDescription } from 'mongodb'
import { StoreOpenError } from '../../store.ts'
import type { Collections } from './documents.ts'
import { isCode, serverCodes } from './driver.ts'
import { actedOf, listedBinding, listedInstance, listedOperation } from './rows.ts'

/** Raised with every change that an older release could not work with. */
export const schemaVersion = 6

/** The version of what is there; undefined where nothing is. Throws where it is of a newer release. */
export async function findVersion(meta: Collections['meta'], name: string): Promise<number | undefined> {
  const { version } = (await meta.findOne({ _id: 'ledger' })) ?? {}
  if (version === undefined || version <= schemaVersion) return version
  throw new StoreOpenError(
    'newer-version',
    `${name} was written by a newer release (its schema is ${version}, this release knows ${schemaVersion}): ` +
      'start that release, or put back the backup made before the upgrade',
  )
}

/**
 * Makes what is missing; run by several replicas at once, or again, it does no harm. All collections are made here, since
 * to make one inside a transaction conflicts with every other transaction.
 */
export async function prepareCollections(db: Db, collections: Collections, name: string): Promise<void> {
  const { meta } = collections
  const version = await findVersion(meta, name)
  if (version === undefined) await refuseForeign(db, collections, name)
  if (version !== undefined && version < 3) await addListed(collections)
  if (version !== undefined && version < 4) await addActed(collections)
  if (version !== undefined && version < 5) await addListedServices(collections)
  if (version !== undefined && version < 6) await addExpiring(collections)
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
    index('observe', ['observeAt', 'seq'], having('observeAt')),
    index('deleted', ['deletedAt'], having('deletedAt')),
    index('pins', ['pins'], having('pins')),
    index('list', ['listed.createdAt', '_id'], live),
    index('list_by_service', ['listed.service', 'listed.createdAt', '_id'], live),
    index('list_by_plan', ['listed.plan', 'listed.createdAt', '_id'], live),
    index('list_by_platform', ['listed.platform', 'listed.createdAt', '_id'], live),
    index('list_by_phase', ['phase', 'listed.createdAt', '_id'], unready),
    index('list_unusable', ['listed.usable', 'listed.createdAt', '_id'], { ...live, 'listed.usable': false }),
    index('survey', ['listed.service', 'listed.plan', 'phase', 'listed.usable'], live),
    index('list_by_revision', ['listed.revision', 'listed.createdAt', '_id'], having('listed.revision')),
  ],
  binding: [
    index('survey', ['listed.service', 'phase'], live),
    index('by_instance', ['instance', 'seq']),
    index('by_phase', ['instance', 'phase']),
    index('list', ['listed.createdAt', '_id'], live),
    index('list_by_service', ['listed.service', 'listed.createdAt', '_id'], live),
    index('list_by_plan', ['listed.plan', 'listed.createdAt', '_id'], live),
    index('list_by_phase', ['phase', 'listed.createdAt', '_id'], unready),
    index('deleted', ['deletedAt'], having('deletedAt')),
    index('list_by_expiry', ['listed.expiresAt', '_id'], { ...live, ...having('listed.expiresAt') }),
    index('notice', ['listed.noticeAt', 'seq'], having('listed.noticeAt')),
  ],
  operation: [
    { ...index('one_active', ['resource'], active), unique: true },
    index('active_by_instance', ['instance', 'binding'], active),
    index('due', ['dueAt', 'seq'], active),
    index('drains', ['drains'], having('drains')),
    index('spent', ['ofBinding', 'state', 'spentAt'], having('spentAt')),
    index('list', ['listed.acceptedAt', '_id']),
    index('list_by_instance', ['instance', 'listed.acceptedAt', '_id']),
    index('list_unsuccessful', ['state', 'listed.acceptedAt', '_id'], { 'listed.unsuccessful': true }),
    index('list_unsuccessful_finished', ['state', 'finishedAt', '_id'], { 'listed.unsuccessful': true }),
    index('list_by_service', ['listed.service', 'listed.acceptedAt', '_id'], having('finishedAt')),
    index('list_by_plan', ['listed.plan', 'listed.acceptedAt', '_id'], having('finishedAt')),
    index('list_by_platform', ['listed.platform', 'listed.acceptedAt', '_id'], having('finishedAt')),
    index('list_by_action', ['listed.action', 'listed.acceptedAt', '_id'], having('finishedAt')),
    index('list_by_step', ['listed.step', 'listed.acceptedAt', '_id'], { 'listed.unsuccessful': true }),
    index('list_by_error', ['listed.fingerprint', 'listed.acceptedAt', '_id'], { 'listed.unsuccessful': true }),
    index('list_finished', ['finishedAt', '_id'], having('finishedAt')),
  ],
  note: [index('expires', ['expiresAt'], having('expiresAt'))],
  history: [
    index('by_instance', ['instance', 'lock', 'place']),
    index('chain', ['link.no', '_id']),
    index('acted', ['acted.at', 'acted.seq'], having('acted.at')),
    index('acted_by', ['acted.by', 'acted.at', 'acted.seq'], having('acted.at')),
    index('acted_verb', ['acted.verb', 'acted.at', 'acted.seq'], having('acted.at')),
  ],
  bulletin: [index('by_kind', ['kind', 'key'])],
  claim: [index('by_resource', ['resource']), index('by_instance', ['instance'])],
  service: [index('by_revision', ['revision'])],
  revision: [index('by_service', ['service'])],
  revisionText: [index('by_version', ['version'])],
}

/** `only`: the documents that are in it. */
function index(name: string, fields: readonly string[], only?: Document): IndexDescription {
  const key = Object.fromEntries(fields.map(field => [field, 1 as const]))
  return { name, key, partialFilterExpression: only }
}

function having(field: string): Document {
  return { [field]: { $exists: true } }
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

/** Gives the history of the schemas before the fourth what the list of acts goes by. Done twice, it does no harm. */
async function addActed({ history }: Collections): Promise<void> {
  const old = history.find({ acted: { $exists: false }, doc: /"type":"acted"/ })
  for await (const { _id, doc } of old) {
    const acted = actedOf(JSON.parse(doc), _id)
    if (acted !== undefined) await history.updateOne({ _id }, { $set: { acted } })
  }
}

/** The same for the operations of the schemas before the fifth. */
async function addListedServices({ operation }: Collections): Promise<void> {
  const old = operation.find({ 'listed.service': { $exists: false } }, { projection: { doc: 1, state: 1 } })
  for await (const { _id, doc, state } of old)
    await operation.updateOne({ _id, doc }, { $set: { listed: listedOperation({ ...JSON.parse(doc), state }) } })
}

/** The same for the bindings of the schemas before the sixth that expire. */
async function addExpiring({ binding }: Collections): Promise<void> {
  const old = binding.find({ 'listed.expiresAt': { $exists: false }, doc: /"expiresAt":/ }, { projection: { doc: 1 } })
  for await (const { _id, doc } of old)
    await binding.updateOne({ _id, doc }, { $set: { listed: listedBinding(JSON.parse(doc)) } })
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
