import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, it, onTestFinished } from 'vitest'
import { type MongoStoreOptions, openMongoStore } from '../../src/store/mongodb/index.ts'
import type { Store } from '../../src/store.ts'
import { type MongoServer, type StartOptions, startMongo, whyNoMongo } from '../external/mongodb.ts'
import { sharedMongo } from '../external/shared-servers.ts'

const reason = await whyNoMongo()

/** Runs the tests with a server of their own; shown as skipped, with the reason, where there is none. */
export function describeMongo(title: string, tests: (server: () => MongoServer) => void, options?: StartOptions): void {
  describeOn(title, tests, { start: () => startMongo(options), end: server => server.stop() })
}

/** The same on the server that this process has for many suites. */
export function describeSharedMongo(
  title: string,
  tests: (server: () => Pick<MongoServer, 'url' | 'folder'>) => void,
): void {
  describeOn(title, tests, { start: sharedMongo, end: async () => {} })
}

interface Life<Server> {
  start(): Promise<Server>
  end(server: Server): Promise<void>
}

function describeOn<Server>(title: string, tests: (server: () => Server) => void, { start, end }: Life<Server>): void {
  describe(title, () => {
    if (reason !== undefined) {
      it.skip(`no MongoDB: ${reason}`)
      return
    }
    let server: Server | undefined
    beforeAll(async () => {
      server = await start()
    }, 300_000)
    afterAll(() => server && end(server))
    tests(() => {
      if (server === undefined) throw new Error('the server was not started')
      return server
    })
  })
}

export function newDatabase(): string {
  return `test-${randomUUID()}`
}

/** By server: as good as new for the next test, and much sooner there than collections and indexes could be made again. */
const emptied = new Map<string, string[]>()

/** A database that is given back when the test ends. The stores of the test are to be opened after this, and so closed before. */
export function takeDatabase(server: Pick<MongoServer, 'url'>): string {
  const { database, giveBack } = borrowDatabase(server)
  onTestFinished(giveBack)
  return database
}

/** To be given back when no store has it open any more. */
export function borrowDatabase({ url }: Pick<MongoServer, 'url'>) {
  const database = emptied.get(url)?.pop() ?? newDatabase()
  async function giveBack(): Promise<void> {
    const collections = await keptClient(url).db(database).collections()
    await Promise.all(collections.map(collection => collection.deleteMany({})))
    emptied.set(url, [...(emptied.get(url) ?? []), database])
  }
  return { database, giveBack }
}

const kept = new Map<string, MongoClient>()

/** As long as this process lives: one that opens connections for each test takes longer than to empty a database. */
function keptClient(url: string): MongoClient {
  const client = kept.get(url) ?? new MongoClient(url)
  kept.set(url, client)
  return client
}

export async function withClient<Result>(
  server: Pick<MongoServer, 'url'>,
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
  server: Pick<MongoServer, 'url'>,
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
