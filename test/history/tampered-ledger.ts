/** A ledger whose history somebody changes behind the back of its store, with all rights in its database. */
import { join } from 'node:path'
import { MongoClient, ObjectId } from 'mongodb'
import { describe, onTestFinished } from 'vitest'
import { keepHistory } from '../../src/broker/history/link-history.ts'
import { readChainLines, readChainStatus } from '../../src/broker/history/read-chain.ts'
import { type ChainSource, type Verified, verifyChain } from '../../src/cli/verify-chain.ts'
import { systemClock } from '../../src/clock.ts'
import type { Link } from '../../src/domain/chain.ts'
import type { Keyring } from '../../src/sealing.ts'
import { readSettings, type Settings } from '../../src/settings/settings.ts'
import { openMongoStore } from '../../src/store/mongodb/index.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { loadLibsqlDriver, loadNodeDriver } from '../../src/store/sqlite/driver.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import type { HistoryEvent, Store } from '../../src/store.ts'
import { connect } from '../external/postgres-connection.ts'
import { describeSharedMongo, takeDatabase } from '../store/mongodb-subject.ts'
import { describeSharedPostgres, newSchema, patient } from '../store/postgres-subject.ts'
import { testFolder } from '../store/sqlite-drivers.ts'

/** A row of the history as it stands in the database. */
export interface RawLine {
  readonly instance: string
  readonly doc: string
  readonly no: number | null
  readonly hash: string | null
}

export interface TamperedLedger {
  /** Closed when the test ends, if it is not before. */
  open(keyring?: Keyring): Promise<Store>
  /** Whether several may have it open. */
  readonly isShared: boolean
  /** No store of SQLite may have it open. */
  rows(): Promise<readonly RawLine[]>
  /** Puts these in the place of all that are there. */
  replace(rows: readonly RawLine[]): Promise<void>
  /** The document of the note with the ends of the chain, and another in its place; none removes it. */
  note(): Promise<string>
  replaceNote(doc: string | undefined): Promise<void>
}

export function describeTampered(title: string, tests: (newLedger: () => TamperedLedger) => void): void {
  describe(`${title}: sqlite`, () => tests(newSqlite))
  describeSharedPostgres(`${title}: postgres`, server => tests(() => newPostgres(server.url)))
  describeSharedMongo(`${title}: mongodb`, server => tests(() => newMongo(server().url)))
}

export async function write(store: Store, ...events: readonly HistoryEvent[]): Promise<void> {
  for (const event of events)
    await store.accept({ instanceId: event.instanceId }, () => ({ answer: undefined, change: { history: [event] } }))
}

/** What the chore does. By default nothing is old. */
export function linkAll(store: Store, now = 0, settings: Settings = {}, signal = new AbortController().signal) {
  if (store.chain === undefined) throw new Error('the store keeps no chain')
  return keepHistory({ store, settings: readSettings(settings) }, store.chain, { signal, now: () => now })
}

/** As the command does it, some lines at a time. */
export function verify(store: Store, known?: Link, pageSize = 3): Promise<Verified> {
  const source: ChainSource = {
    status: () => readChainStatus(store),
    lines: async after => (await readChainLines(store, after, pageSize)) as Awaited<ReturnType<ChainSource['lines']>>,
  }
  return verifyChain(source, known)
}

function closing(store: Store): Store {
  onTestFinished(() => store.close())
  return store
}

function newSqlite(): TamperedLedger {
  const file = join(testFolder(), 'ledger.db')
  const withDatabase = async (text: string, ...lists: readonly (readonly (string | number | null)[])[]) => {
    const driver = loadNodeDriver() ?? (await loadLibsqlDriver())
    const database = driver?.open(file)
    if (database === undefined) throw new Error('there is no SQLite')
    try {
      const statement = database.prepare(text)
      if (text.startsWith('select')) return statement.all()
      for (const values of lists) statement.run(...values)
      return []
    } finally {
      database.close()
    }
  }
  return {
    isShared: false,
    open: async keyring => closing(await openSqliteStore({ file, clock: systemClock, keyring })),
    rows: async () =>
      (await withDatabase(
        'select instance_id as instance, doc, chain_no as no, chain_hash as hash from history order by chain_no is null, chain_no, seq',
      )) as unknown as readonly RawLine[],
    async replace(rows) {
      await withDatabase('delete from history', [])
      const lists = rows.map(({ instance, doc, no, hash }) => [instance, doc, no, hash])
      await withDatabase('insert into history (instance_id, doc, chain_no, chain_hash) values (?, ?, ?, ?)', ...lists)
    },
    async note() {
      const [row] = await withDatabase("select doc from note where kind = 'history-chain'")
      return String(row?.doc)
    },
    async replaceNote(doc) {
      if (doc === undefined) await withDatabase("delete from note where kind = 'history-chain'", [])
      else await withDatabase("update note set doc = ? where kind = 'history-chain'", [doc])
    },
  }
}

function newPostgres(url: string): TamperedLedger {
  const schema = newSchema()
  const ask = async (text: string, values: readonly (string | number | null)[] = []) => {
    const connection = await connect(url)
    try {
      return (await connection.query({ text, values })).rows
    } finally {
      await connection.end()
    }
  }
  return {
    isShared: true,
    open: async keyring => closing(await openPostgresStore({ url, schema, keyring, ...patient })),
    rows: async () =>
      (await ask(
        `select instance_id as instance, doc, chain_no::double precision as no, chain_hash as hash from ${schema}.history
          order by chain_no nulls last, seq`,
      )) as unknown as readonly RawLine[],
    async replace(rows) {
      await ask(`delete from ${schema}.history`)
      await ask(
        `insert into ${schema}.history (instance_id, doc, chain_no, chain_hash) select r.instance, r.doc, r.no, r.hash
          from json_to_recordset($1::json) as r (instance text, doc text, no bigint, hash text)`,
        [JSON.stringify(rows)],
      )
    },
    note: async () => String((await ask(`select doc from ${schema}.note where kind = 'history-chain'`))[0]?.doc),
    async replaceNote(doc) {
      if (doc === undefined) await ask(`delete from ${schema}.note where kind = 'history-chain'`)
      else await ask(`update ${schema}.note set doc = $1 where kind = 'history-chain'`, [doc])
    },
  }
}

function newMongo(url: string): TamperedLedger {
  const database = takeDatabase({ url })
  const withDatabase = async <Result>(work: (db: ReturnType<MongoClient['db']>) => Promise<Result>) => {
    const client = new MongoClient(url)
    try {
      return await work(client.db(database))
    } finally {
      await client.close()
    }
  }
  const noted = { _id: /^history-chain / } as object
  return {
    isShared: true,
    open: async keyring =>
      closing(await openMongoStore({ url, database, keyring, connectTimeout: 120_000, statementTimeout: 120_000 })),
    rows: () =>
      withDatabase(async db => {
        const found = await db.collection('purser_history').find({}).sort({ 'link.no': 1, _id: 1 }).toArray()
        return found
          .map(({ instance, doc, link }) => ({ instance, doc, no: link?.no ?? null, hash: link?.hash ?? null }))
          .sort((one, other) => Number(one.no === null) - Number(other.no === null))
      }),
    replace: rows =>
      withDatabase(async db => {
        await db.collection('purser_history').deleteMany({})
        const documents = rows.map(({ instance, doc, no, hash }, place) => {
          return { _id: new ObjectId(), instance, doc, lock: 1, place, ...(no !== null && { link: { no, hash } }) }
        })
        if (documents.length > 0) await db.collection('purser_history').insertMany(documents)
      }),
    note: () => withDatabase(async db => String((await db.collection('purser_note').findOne(noted))?.doc)),
    replaceNote: doc =>
      withDatabase(async db => {
        if (doc === undefined) await db.collection('purser_note').deleteOne(noted)
        else await db.collection('purser_note').updateOne(noted, { $set: { doc } })
      }),
  }
}
