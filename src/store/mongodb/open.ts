import { randomUUID } from 'node:crypto'
import type { DbOptions, MongoClient, MongoClientOptions } from 'mongodb'
import { systemClock } from '../../clock.ts'
import { type Observer, toError } from '../../observer.ts'
import type { Keyring } from '../../sealing.ts'
import type { Store } from '../../store.ts'
import { StoreOpenError } from '../../store.ts'
import { compareClocks, type StoreExam } from '../exam.ts'
import { type LedgerOptions, readLedgerOptions } from '../options.ts'
import { requireKeys } from '../require-keys.ts'
import { createSealer } from '../sealing.ts'
import { readAddress } from './address.ts'
import { type Database, serverNow } from './database.ts'
import { collectionsOf } from './documents.ts'
import { type Driver, loadDriver } from './driver.ts'
import { toOpenError } from './failures.ts'
import { findVersion, prepareCollections, schemaVersion } from './migrations.ts'
import { createMongoStore } from './store.ts'
import { createTransactions } from './transactions.ts'
import { createTurns } from './turns.ts'

export interface MongoStoreOptions extends LedgerOptions {
  /** `mongodb://…` or `mongodb+srv://…` of a replica set; TLS and credentials as the driver's URLs have them. */
  readonly url: string
  /** Else the URL's, else `purser`. */
  readonly database?: string
  /** Told when wake-ups from other replicas stop for a while. */
  readonly observer?: Observer
  /** What values are encrypted with. */
  readonly keyring?: Keyring
}

/**
 * Opens the ledger in a replica set, for as many processes as there are. Throws StoreOpenError where it cannot be had, and
 * StoreUnavailableError where nobody answers.
 */
export async function openMongoStore(options: MongoStoreOptions): Promise<Store> {
  return requireKeys(await openWith(options, serverNow))
}

/** Makes the collections and indexes that are missing; it reads and writes no value, and needs no key. */
export async function prepareMongoStore(options: MongoStoreOptions): Promise<void> {
  await (await openWith(options, serverNow)).close()
}

/** The same by a time of the caller's choice. */
export async function openWith(options: MongoStoreOptions, now: () => object): Promise<Store> {
  const { url, observer } = options
  // A conflict with other replicas may last as long as a statement.
  const { schema, poolSize, connectTimeoutMs, statementTimeoutMs: timeoutMs } = readLedgerOptions(options)
  const { name, database } = readAddress(url, options.database)
  if (!/^[\w-]{1,60}$/.test(schema)) {
    throw new StoreOpenError(
      'bad-schema',
      `the schema "${schema}" cannot begin a collection's name: use up to 60 letters, digits, _ and -`,
    )
  }
  const driver = await loadDriver()
  let opened: MongoClient | undefined
  try {
    const client = new driver.MongoClient(url, settings(poolSize, connectTimeoutMs, timeoutMs))
    opened = client
    await client.connect()
    const db = client.db(database, promises(driver, timeoutMs))
    const collections = collectionsOf(db, `${schema}_`)
    await requireReplicaSet(client, name)
    await prepareCollections(db, collections, name)
    const ledger: Database = {
      collections,
      sealer: createSealer(options.keyring),
      transactions: createTransactions(client, { clock: systemClock, timeoutMs, width: poolSize }),
      snapshotSession: () => client.startSession({ snapshot: true }),
      turns: createTurns(systemClock, timeoutMs),
      now,
      nextSeq: () => new driver.ObjectId(),
      storeId: randomUUID(),
      timeoutMs,
    }
    return createMongoStore({
      name,
      ledger,
      clock: systemClock,
      onStreamBreak: error => observer?.['store.wakeUpsLost']?.({ store: name, error: toError(error) }),
      onClosed: () => client.close(),
    })
  } catch (error) {
    await opened?.close()
    throw toOpenError(error, name)
  }
}

/** Looks at the database without opening the store: nothing is made. `name` is that of a replica. */
export async function examineMongo(options: MongoStoreOptions & { readonly name?: string }): Promise<StoreExam> {
  const { schema, connectTimeoutMs, statementTimeoutMs: timeoutMs } = readLedgerOptions(options)
  const { name, database } = readAddress(options.url, options.database)
  const driver = await loadDriver()
  let opened: MongoClient | undefined
  try {
    const client = new driver.MongoClient(options.url, settings(1, connectTimeoutMs, timeoutMs))
    opened = client
    await client.connect()
    await requireReplicaSet(client, name)
    const { meta, replica } = collectionsOf(client.db(database, promises(driver, timeoutMs)), `${schema}_`)
    const clocks = await compareClocks(async () => {
      const { localTime } = await client.db('admin').command({ hello: 1 })
      return Number(localTime)
    })
    const version = await findVersion(meta, name)
    const held = options.name === undefined ? null : await replica.findOne({ _id: options.name })
    const now = systemClock.now() + clocks.aheadMs
    const holder = held === null ? undefined : { ...held, agoMs: now - (held.seenAt ?? now) }
    return { version: version ?? 0, known: schemaVersion, ...clocks, holder }
  } catch (error) {
    throw toOpenError(error, name)
  } finally {
    await opened?.close()
  }
}

/**
 * An answer is given once a majority has what it says on disk. Stated for the database: what is stated for the client
 * mixes with what the URL says.
 */
function promises({ ReadConcern }: Driver, timeoutMs: number): DbOptions {
  return {
    // Undefined means absent, also in filters.
    ignoreUndefined: true,
    readPreference: 'primary',
    readConcern: new ReadConcern('majority'),
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: timeoutMs },
  }
}

function settings(poolSize: number, connectTimeoutMs: number, timeoutMs: number): MongoClientOptions {
  return {
    appName: 'purser',
    // Two more for the change streams.
    maxPoolSize: poolSize + 2,
    serverSelectionTimeoutMS: connectTimeoutMs,
    connectTimeoutMS: connectTimeoutMs,
    socketTimeoutMS: timeoutMs + 5000,
    waitQueueTimeoutMS: timeoutMs,
    readPreference: 'primary',
    retryReads: true,
    retryWrites: true,
  }
}

/** A single server has neither transactions nor change streams; mongos has both. */
async function requireReplicaSet(client: MongoClient, name: string): Promise<void> {
  const hello = await client.db('admin').command({ hello: 1 })
  if (hello.setName !== undefined || hello.msg === 'isdbgrid') return
  throw new StoreOpenError(
    'not-a-replica-set',
    `${name} is a single MongoDB server, and the ledger needs transactions, which only a replica set has: start it ` +
      'with --replSet rs0 and run rs.initiate() once (one member is enough)',
  )
}
