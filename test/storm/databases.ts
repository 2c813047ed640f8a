/** The databases that storms run on, and what can be done to them. */
import { type Document, MongoClient } from 'mongodb'
import { startMongo, whyNoMongo } from '../external/mongodb.ts'
import { startPostgres, whyNoPostgres } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'

export type DatabaseKind = 'postgres' | 'mongodb'

export interface Database {
  readonly kind: DatabaseKind
  readonly port: number
  /** The ledger, by way of another port of this machine. */
  urlAt(port: number): string
  /** As a crash: what was not on the disk is lost. */
  crash(): Promise<void>
  /** Ends what its clients have under way. */
  terminate(): Promise<void>
  stop(): Promise<void>
}

/** Why there is none; undefined where there is. A database that STORES names and that is not to be had is an error. */
export function whyNot(kind: DatabaseKind): Promise<string | undefined> {
  return kind === 'mongodb' ? whyNoMongo() : whyNoPostgres()
}

export function startDatabase(kind: DatabaseKind): Promise<Database> {
  return kind === 'postgres' ? startPostgresDatabase() : startMongoDatabase()
}

async function startPostgresDatabase(): Promise<Database> {
  const server = await startPostgres()
  const at = (port: number) => {
    const url = new URL(server.url)
    url.port = String(port)
    return url.href
  }
  return {
    kind: 'postgres',
    port: Number(new URL(server.url).port),
    urlAt: at,
    crash: () => server.restart('immediate'),
    async terminate() {
      const connection = await connect(server.url)
      try {
        await connection.query({
          text: 'select pg_terminate_backend(pid) from pg_stat_activity where usename is not null and pid <> pg_backend_pid()',
        })
      } finally {
        await connection.end()
      }
    },
    stop: () => server.stop(),
  }
}

async function startMongoDatabase(): Promise<Database> {
  const server = await startMongo()
  const command = async (document: Document) => {
    const client = new MongoClient(server.url)
    try {
      await client.db('admin').command(document)
    } finally {
      await client.close()
    }
  }
  // What a killed replica had open keeps others from an instance until the server ends it: after a minute, by default.
  const endSoon = () => command({ setParameter: 1, transactionLifetimeLimitSeconds: 10 })
  await endSoon()
  const port = Number(/:(\d+)/.exec(server.url)?.[1])
  return {
    kind: 'mongodb',
    port,
    // Without discovery, which would lead past the other port.
    urlAt: other => `mongodb://127.0.0.1:${other}/storm?directConnection=true`,
    async crash() {
      await server.restart()
      await endSoon()
    },
    terminate: () => command({ killAllSessions: [] }),
    stop: () => server.stop(),
  }
}
