/**
 * One server of each kind for all suites of a process, as long as it lives: to start one takes longer than most suites need it.
 * For suites that neither stop it, nor change its settings, nor look at its files.
 */
import { randomUUID } from 'node:crypto'
import { type MongoServer, startMongo } from './mongodb.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'
import { connect } from './postgres-connection.ts'

type SharedMongo = Pick<MongoServer, 'url' | 'folder'>

const started: { postgres?: Promise<Pick<PostgresServer, 'url'>>; mongo?: Promise<SharedMongo> } = {}

/** What a process that starts others lends to all of them, as JSON. */
const lent = { postgres: 'TEST_LENT_POSTGRES', mongo: 'TEST_LENT_MONGODB' } as const

/** For the suites of all processes that are started from here on. Answers how to take the servers back. */
export async function lendServers(kinds: { readonly postgres: boolean; readonly mongodb: boolean }) {
  const [postgres, mongo] = await Promise.all([
    kinds.postgres ? startPostgres() : undefined,
    kinds.mongodb ? startMongo() : undefined,
  ])
  if (postgres) process.env[lent.postgres] = JSON.stringify({ url: postgres.url })
  if (mongo) process.env[lent.mongo] = JSON.stringify({ url: mongo.url, folder: mongo.folder })
  return async () => {
    for (const name of Object.values(lent)) delete process.env[name]
    await Promise.all([postgres, mongo].map(server => server?.stop()))
  }
}

/** The URL of a database of its own. */
export async function newSharedDatabase(): Promise<string> {
  started.postgres ??= share(lent.postgres, startPostgres)
  const { url } = await started.postgres
  const name = `suite_${randomUUID().replaceAll('-', '')}`
  const admin = await connect(url)
  await admin.query({ text: `create database ${name}` })
  await admin.end()
  return url.replace(/[^/]+$/, name)
}

export function sharedMongo(): Promise<SharedMongo> {
  started.mongo ??= share(lent.mongo, startMongo)
  return started.mongo
}

async function share<Server>(variable: string, start: () => Promise<Server>): Promise<Server> {
  const given = process.env[variable]
  if (given !== undefined) return JSON.parse(given)
  // Vitest ends its processes with a signal; servers are removed when a process exits by itself.
  if (started.postgres === undefined && started.mongo === undefined) process.once('SIGTERM', () => process.exit())
  return start()
}
