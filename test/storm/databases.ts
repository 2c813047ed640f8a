/** The databases that storms run on, and what can be done to them. */
import { type Document, MongoClient } from 'mongodb'
import { startMongo, whyNoMongo } from '../external/mongodb.ts'
import { type PostgresServer, startPostgres, whyNoPostgres } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'
import { startPair } from '../external/postgres-pair.ts'

export type DatabaseKind = 'postgres' | 'postgres that fails over' | 'mongodb'

export interface Database {
  readonly kind: DatabaseKind
  /** One for each server. */
  readonly ports: readonly number[]
  /** The ledger, by way of other ports of this machine. */
  urlAt(ports: readonly number[]): string
  /** As a crash: what was not on the disk is lost. Where there is a standby, it takes over. */
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
  if (kind === 'mongodb') return startMongoDatabase()
  return kind === 'postgres' ? startPostgresDatabase() : startPostgresPair()
}

async function startPostgresDatabase(): Promise<Database> {
  const server = await startPostgres()
  return {
    kind: 'postgres',
    ports: [portOf(server)],
    urlAt: postgresAt,
    crash: () => server.restart('immediate'),
    terminate: () => terminate(server),
    stop: () => server.stop(),
  }
}

/** The first crash is a failover: the primary is killed, and its synchronous standby promoted. */
async function startPostgresPair(): Promise<Database> {
  const pair = await startPair({ synchronous: true })
  let failedOver = false
  return {
    kind: 'postgres that fails over',
    ports: [portOf(pair.primary), portOf(pair.standby)],
    urlAt: postgresAt,
    async crash() {
      if (failedOver) return pair.standby.restart('immediate')
      failedOver = true
      await pair.primary.down('kill')
      await pair.promote()
    },
    terminate: () => terminate(failedOver ? pair.standby : pair.primary),
    stop: () => pair.stop(),
  }
}

function portOf({ url }: PostgresServer): number {
  return Number(new URL(url).port)
}

function postgresAt(ports: readonly number[]): string {
  return `postgres://postgres@${ports.map(port => `127.0.0.1:${port}`).join(',')}/postgres`
}

async function terminate({ url }: PostgresServer): Promise<void> {
  const connection = await connect(url)
  try {
    // Of clients: the standby's connection is none.
    await connection.query({
      text: "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
    })
  } finally {
    await connection.end()
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
    ports: [port],
    // Without discovery, which would lead past the other port.
    urlAt: ([other]) => `mongodb://127.0.0.1:${other}/storm?directConnection=true`,
    async crash() {
      await server.restart()
      await endSoon()
    },
    terminate: () => command({ killAllSessions: [] }),
    stop: () => server.stop(),
  }
}
