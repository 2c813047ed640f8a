/** A ledger that is opened with these keys and those, and looked at behind the back of its store. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MongoClient } from 'mongodb'
import { describe, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { Keyring } from '../../src/sealing.ts'
import { openMongoStore } from '../../src/store/mongodb/index.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { loadLibsqlDriver, loadNodeDriver } from '../../src/store/sqlite/driver.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store.ts'
import {
  bindingRow,
  claimOne,
  instanceRow,
  leaseOf,
  operationRow,
  stepRow,
} from '../../src/testing/store-contract/rows.ts'
import type { MongoServer } from '../external/mongodb.ts'
import type { PostgresServer } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'
import { describeMongo, newDatabase } from './mongodb-subject.ts'
import { describePostgres, newSchema, patient } from './postgres-subject.ts'
import { testFolder } from './sqlite-drivers.ts'

export interface EncryptedLedger {
  /** Closed when the test ends, if it is not before. */
  open(keyring?: Keyring): Promise<Store>
  /** Every byte of it, as text. No store has it open. */
  bytes(): Promise<string>
  /** The folder of its files; other ledgers may have theirs there, too. */
  folder(): string
  /** Gives what is sealed of the instance `a` to the instance `b`, and the binding, the operation and the step of `a`, too. */
  moveToB(what: Moved): Promise<void>
}

export type Moved = 'sealed' | 'binding' | 'operation' | 'step' | 'history'

export function describeEncrypted(title: string, tests: (newLedger: () => EncryptedLedger) => void): void {
  describe(`${title}: sqlite`, () => tests(newSqlite))
  describePostgres(`${title}: postgres`, server => tests(() => newPostgres(server)))
  describeMongo(`${title}: mongodb`, server => tests(() => newMongo(server())))
}

function closing(store: Store): Store {
  onTestFinished(() => store.close())
  return store
}

const moves: Readonly<Record<Moved, string>> = {
  sealed: `update SCHEMA.instance set sealed = (select a.sealed from SCHEMA.instance a where a.id = 'a') where id = 'b'`,
  binding: `update SCHEMA.binding set instance_id = 'b', id = 'moved' where instance_id = 'a'`,
  operation: `update SCHEMA.operation set instance_id = 'b' where id = 'a:provision'`,
  step: `update SCHEMA.step set operation_id = 'b:provision' where operation_id = 'a:provision'`,
  history: `update SCHEMA.history set instance_id = 'b' where instance_id = 'a'`,
}

function newSqlite(): EncryptedLedger {
  const file = join(testFolder(), 'ledger.db')
  return {
    open: async keyring => closing(await openSqliteStore({ file, clock: systemClock, keyring })),
    folder: () => dirname(file),
    async bytes() {
      const files = [file, `${file}-wal`].filter(path => existsSync(path))
      return files.map(path => readFileSync(path, 'latin1')).join('')
    },
    async moveToB(what) {
      const driver = loadNodeDriver() ?? (await loadLibsqlDriver())
      const database = driver?.open(file)
      database?.exec(moves[what].replaceAll('SCHEMA.', ''))
      // What belongs to an instance is found by its number.
      for (const table of what === 'operation' || what === 'history' ? [what] : [])
        database?.exec(
          `update ${table} set instance_number = (select number from instance where instance.id = ${table}.instance_id)`,
        )
      database?.close()
    },
  }
}

function newPostgres({ url, data }: PostgresServer): EncryptedLedger {
  const schema = newSchema()
  const withConnection = async <Result>(
    work: (ask: (text: string) => Promise<readonly object[]>) => Promise<Result>,
  ) => {
    const connection = await connect(url)
    try {
      return await work(async text => (await connection.query({ text })).rows)
    } finally {
      await connection.end()
    }
  }
  return {
    open: async keyring => closing(await openPostgresStore({ url, schema, keyring, ...patient })),
    folder: () => data,
    bytes: () =>
      withConnection(async ask => {
        const tables = await ask(`select tablename as name from pg_tables where schemaname = '${schema}'`)
        const texts: string[] = []
        for (const { name } of tables as readonly { name: string }[])
          texts.push(JSON.stringify(await ask(`select t::text as row from ${schema}.${name} t`)))
        return texts.join('')
      }),
    moveToB: what => withConnection(async ask => void (await ask(moves[what].replaceAll('SCHEMA', schema)))),
  }
}

function newMongo({ url, folder }: MongoServer): EncryptedLedger {
  const database = newDatabase()
  const withDatabase = async <Result>(work: (db: ReturnType<MongoClient['db']>) => Promise<Result>) => {
    const client = new MongoClient(url)
    try {
      return await work(client.db(database))
    } finally {
      await client.close()
    }
  }
  return {
    open: async keyring =>
      closing(await openMongoStore({ url, database, keyring, connectTimeout: 120_000, statementTimeout: 120_000 })),
    folder: () => folder,
    bytes: () =>
      withDatabase(async db => {
        const collections = await db.collections()
        const found = await Promise.all(collections.map(collection => collection.find({}).toArray()))
        return JSON.stringify(found)
      }),
    moveToB: what =>
      withDatabase(async db => {
        const rows = (name: string) => db.collection(`purser_${name}`)
        const [a, b] = [await rows('instance').findOne({ id: 'a' }), await rows('instance').findOne({ id: 'b' })]
        if (what === 'sealed') await rows('instance').updateOne({ _id: b?._id }, { $set: { sealed: a?.sealed } })
        if (what === 'history') await rows('history').updateMany({ instance: a?._id }, { $set: { instance: b?._id } })
        const [of, to] = await Promise.all([a, b].map(row => rows('operation').findOne({ resource: row?._id })))
        if (what === 'operation') await rows('operation').updateOne({ _id: of?._id }, { $set: { resource: b?._id } })
        if (what === 'step') await rows('operation').updateOne({ _id: to?._id }, { $set: { steps: of?.steps } })
        if (what !== 'binding') return
        // Its key is made of both ids: it becomes the document of b's binding.
        const bound = await rows('binding').find({}).toArray()
        const [mine, other] = [a, b].map(row =>
          bound.find(({ instance }) => instance.toString() === row?._id.toString()),
        )
        const { _id: _key, instance: _owner, ...rest } = (mine ?? {}) as Record<string, unknown>
        await rows('binding').updateOne({ _id: other?._id }, { $set: rest })
      }),
  }
}

export const canary = 'canary-7f3a91'

/** Instances with the canary in everything that is sealed, and in nothing else. Steps are those of operations that have ended. */
export async function fillWithCanaries(store: Store, ids: readonly string[] = ['a', 'b']): Promise<void> {
  const secret = { password: canary, list: [canary] }
  const identity = { platform: 'cf', value: { user_id: canary } }
  for (const id of ids) {
    const operation = operationRow(`${id}:provision`, id, { input: { parameters: secret }, identity })
    const instance = instanceRow(id, { parameters: secret, state: secret, dashboardToken: canary })
    const event = { at: 1, type: 'accepted', instanceId: id, operationId: operation.id, identity } as const
    await store.accept({ instanceId: id }, () => ({
      answer: 0,
      change: { instance, operations: [operation], history: [event] },
    }))
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: stepRow('made', { output: secret }), state: { saved: canary } })
    await store.finish(lease, ({ finishing, now }) => ({
      operations: [{ ...finishing, state: 'failed', finishedAt: now }],
      history: [{ ...event, type: 'failed' }],
    }))
    const binding = bindingRow(id, 'bound', { parameters: secret, state: secret, result: { credentials: secret } })
    await store.accept({ instanceId: id, bindingId: 'bound' }, () => ({ answer: 0, change: { bindings: [binding] } }))
    await store.accept({ instanceId: id }, ({ instance: now }) => ({
      answer: 0,
      change: { instance: now && { ...now, phase: 'failed' } },
    }))
  }
}

/** All that the store shows of the instances. */
export async function shown(store: Store, ids: readonly string[] = ['a', 'b']): Promise<unknown> {
  return Promise.all(
    ids.map(async id => [
      await store.instance(id),
      await store.bindings(id),
      await store.operation(`${id}:provision`),
      await store.steps(`${id}:provision`),
      await store.history(id),
    ]),
  )
}
