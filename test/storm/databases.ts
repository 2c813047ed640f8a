/** The databases that storms run on, and what can be done to them. */
import { type Document, MongoClient } from 'mongodb'
import { isSecondary, type Mongod } from '../external/mongod.ts'
import { startMongo, whyNoMongo } from '../external/mongodb.ts'
import { startMongoSet } from '../external/mongodb-set.ts'
import { type PostgresServer, startPostgres, whyNoPostgres } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'
import { startPair } from '../external/postgres-pair.ts'

export type DatabaseKind = 'postgres' | 'postgres that fails over' | 'mongodb' | 'mongodb that fails over'

/** How a primary is lost: killed, told to give way, or silent for so long that the others elect another one. */
export type Failover = 'kill' | 'step down' | 'freeze'

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
  /** Where there are several servers: resolves when another is the primary, and the one that was is back in the set. */
  failOver?(how: Failover): Promise<void>
  stop(): Promise<void>
}

/** Why there is none; undefined where there is. A database that STORES names and that is not to be had is an error. */
export function whyNot(kind: DatabaseKind): Promise<string | undefined> {
  return kind.startsWith('postgres') ? whyNoPostgres() : whyNoMongo()
}

const starters: Readonly<Record<DatabaseKind, () => Promise<Database>>> = {
  postgres: startPostgresDatabase,
  'postgres that fails over': startPostgresPair,
  mongodb: startMongoDatabase,
  'mongodb that fails over': startMongoSetDatabase,
}

export function startDatabase(kind: DatabaseKind): Promise<Database> {
  return starters[kind]()
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

async function startMongoSetDatabase(): Promise<Database> {
  const set = await startMongoSet()
  const lose: Readonly<Record<Failover, (primary: Mongod) => unknown>> = {
    kill: primary => primary.kill(),
    // It closes the connection that it is told by.
    'step down': primary => primary.command({ replSetStepDown: 60 }).catch(() => {}),
    freeze: primary => primary.signal('SIGSTOP'),
  }
  const bringBack: Readonly<Record<Failover, (primary: Mongod) => unknown>> = {
    kill: primary => primary.start(),
    'step down': () => {},
    freeze: primary => primary.signal('SIGCONT'),
  }
  const failOver = async (how: Failover) => {
    const primary = await set.primary()
    await lose[how](primary)
    await set.untilOther(primary)
    await bringBack[how](primary)
    await primary.until(isSecondary)
  }
  return {
    kind: 'mongodb that fails over',
    ports: [],
    // Its members are found by what they say of each other, so no other port leads to them.
    urlAt: () => set.url.replace('/?', '/storm?'),
    crash: () => failOver('kill'),
    terminate: async () => {
      await (await set.primary()).command({ killAllSessions: [] })
    },
    failOver,
    stop: () => set.stop(),
  }
}
