import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type MongoStoreOptions, openMongoStore } from '../../src/store/mongodb/index.ts'
import type { Store } from '../../src/store.ts'
import { type MongoServer, type StartOptions, startMongo, whyNoMongo } from '../external/mongodb.ts'

const reason = await whyNoMongo()

/** Runs the tests with a server of their own; shown as skipped, with the reason, where there is none. */
export function describeMongo(title: string, tests: (server: () => MongoServer) => void, options?: StartOptions): void {
  describe(title, () => {
    if (reason !== undefined) {
      it.skip(`no MongoDB: ${reason}`)
      return
    }
    let server: MongoServer | undefined
    beforeAll(async () => {
      server = await startMongo(options)
    }, 300_000)
    afterAll(() => server?.stop())
    tests(() => {
      if (server === undefined) throw new Error('the server was not started')
      return server
    })
  })
}

export function newDatabase(): string {
  return `test-${randomUUID()}`
}

/** As good as new for the next ledger, and much sooner than its collections and indexes could be made again. */
export async function emptyDatabase(server: MongoServer, database: string): Promise<void> {
  await withClient(server, async client => {
    const collections = await client.db(database).collections()
    await Promise.all(collections.map(collection => collection.deleteMany({})))
  })
}

export async function withClient<Result>(
  server: MongoServer,
  work: (client: MongoClient) => Promise<Result>,
): Promise<Result> {
  const client = new MongoClient(server.url)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** Opens several stores on one database, as replicas do, and closes them in the end. */
export async function withStores(
  server: MongoServer,
  count: number,
  work: (stores: readonly Store[], database: string) => Promise<void>,
  options: Partial<MongoStoreOptions> = {},
): Promise<void> {
  const database = newDatabase()
  const stores: Store[] = []
  try {
    const opened = Array.from({ length: count }, () => openMongoStore({ url: server.url, database, ...options }))
    stores.push(...(await Promise.all(opened)))
    await work(stores, database)
  } finally {
    await Promise.all(stores.map(store => store.close()))
  }
}
