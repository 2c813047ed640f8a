import { type Clock, systemClock } from '../../clock.ts'
import type { Observer } from '../../observer.ts'
import type { Keyring } from '../../sealing.ts'
import { type Store, StoreOpenError } from '../../store.ts'
import type { StoreExam } from '../exam.ts'
import { type LedgerOptions, readLedgerOptions } from '../options.ts'
import { requireKeys } from '../require-keys.ts'
import { createWakeUps } from '../wake-ups.ts'
import { createDatabase } from './database.ts'
import {
  type Address,
  type Connection,
  connectionConfig,
  loadLibrary,
  type PooledConnection,
  parseAddress,
  type Session,
} from './driver.ts'
import { examineSchema } from './exam.ts'
import { toOneError, toOpenError } from './failures.ts'
import { startListener } from './listener.ts'
import { findPending, migrate, toScript } from './migrate.ts'
import { findPooler } from './pooler.ts'
import { createServerClock } from './server-clock.ts'
import { createServers, type Servers } from './servers.ts'
import { createStatements } from './statements.ts'
import { createPostgresStore } from './store.ts'
import { createWitness } from './witness.ts'

/** The schema is made where it is missing. */
export interface MigrationTarget extends Pick<LedgerOptions, 'schema' | 'connectTimeout'> {
  /**
   * `postgres://user:password@host:port/database`, with what the package pg understands (`?sslmode=verify-full`). Several
   * servers (`host:port,host:port`) are tried in turn: that which can be written is used.
   */
  readonly url: string
}

export interface PostgresStoreOptions extends MigrationTarget, LedgerOptions {
  /** For pauses between attempts to reconnect, and to know the database's clock between two answers: times are its own. */
  readonly clock?: Clock
  readonly observer?: Observer
  /** What values are encrypted with. */
  readonly keyring?: Keyring
}

/** Opens the ledger for this replica and brings its schema up to date; throws StoreOpenError where it cannot be had. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock = systemClock, observer } = options
  const { schema, poolSize, connectTimeoutMs, statementTimeoutMs } = readLedgerOptions(options)
  checkSchema(schema)
  const address = parseAddress(options.url)
  const name = `${address.name} (schema ${schema})`
  const library = await loadLibrary()
  const servers = createServers(library, address)
  const session: Session = { connectTimeoutMs, statementTimeoutMs }
  const pooled = await withConnection({ servers, address, session }, async connection => {
    await checkServer(connection, statementTimeoutMs)
    const pooler = await findPooler(connection, session)
    const migrations = await migrate(connection, schema, statementTimeoutMs)
    if (migrations > 0) observer?.['store.migrated']?.({ store: name, migrations })
    return pooler
  })
  if (pooled) observer?.['configuration.warning']?.({ message: pooledWarning })
  const quoted = `"${schema}"`
  const witness = createWitness({
    schema: quoted,
    patienceMs: statementTimeoutMs,
    onLoss: lost => observer?.['store.wentBack']?.({ store: name, lost }),
  })
  const greet = async (connection: PooledConnection) => {
    await servers.greet(connection, statementTimeoutMs)
    await witness.meet(connection)
  }
  const pool = new library.Pool({
    ...connectionConfig(address, session),
    max: poolSize,
    idleTimeoutMillis: 60_000,
    // The server should be the first to give up, because then it is known that nothing was done.
    query_timeout: statementTimeoutMs + 2_000,
    Client: servers.Client,
    verify: (connection, done) => void greet(connection).then(() => done(), done),
  })
  const wakeUps = createWakeUps()
  const listen = () =>
    startListener({
      // It writes nothing that must last: a server that forgets its note in a crash has another start after it.
      connect: () => new servers.Client(connectionConfig(address, { ...session, careless: true })),
      note: `select from ${quoted}.meet_server('{}')`,
      channel: `${schema}_wake_up`,
      clock,
      onWakeUp: wakeUp => wakeUps.send([wakeUp]),
      onTrouble: error => observer?.['store.wakeUpsLost']?.({ store: name, error }),
    })
  const store = createPostgresStore({
    name,
    keyring: options.keyring,
    schema: quoted,
    // The pooler may have led a transaction to another server than the connection was made to: nothing follows from it.
    database: createDatabase({ pool, servers, witness: pooled ? { ...witness, learn: () => {} } : witness, name }),
    statements: createStatements(quoted, !pooled),
    clock: createServerClock(clock),
    witness,
    wakeUps,
    listener: pooled ? undefined : await listen(),
  })
  return requireKeys(store)
}

const pooledWarning =
  'a pooler stands before the PostgreSQL database: replicas find the work of others by polling (engine.pollInterval), and ' +
  'statements are planned for each call. Name the server itself where it has connections to spare'

/** The SQL that opening the store would run first, for those who look at it before, or run it under another user. */
export function pendingMigrations(target: MigrationTarget): Promise<readonly string[]> {
  return onSchema(target, (connection, schema) => findPending(connection, schema, patienceMs))
}

/** The same as a script that psql runs as it is, by any user who may; undefined where nothing is pending. */
export function migrationScript(target: MigrationTarget): Promise<string | undefined> {
  return onSchema(target, async (connection, schema) => {
    const pending = await findPending(connection, schema, patienceMs)
    if (pending.length === 0) return undefined
    const text = 'select quote_ident(current_user) as served_by'
    const { rows } = await connection.query({ text, query_timeout: patienceMs })
    return toScript(pending, schema, String(rows[0]?.served_by))
  })
}

/** Runs what is pending, as opening the store does, and answers how many statements that were. */
export function applyMigrations(target: MigrationTarget): Promise<number> {
  return onSchema(target, (connection, schema) => migrate(connection, schema, patienceMs))
}

/** Looks at the database without opening the store. `name` is that of a replica. */
export function examinePostgres({ name, ...target }: MigrationTarget & { readonly name?: string }): Promise<StoreExam> {
  return onSchema(target, (connection, schema) => examineSchema(connection, { schema, patienceMs, name }))
}

async function onSchema<Result>(
  target: MigrationTarget,
  body: (connection: Connection, schema: string) => Promise<Result>,
): Promise<Result> {
  const { schema, connectTimeoutMs } = readLedgerOptions(target)
  checkSchema(schema)
  const address = parseAddress(target.url)
  const servers = createServers(await loadLibrary(), address)
  const session = { connectTimeoutMs, statementTimeoutMs: patienceMs }
  return withConnection({ servers, address, session }, async connection => {
    await checkServer(connection, patienceMs)
    return body(connection, schema)
  })
}

const patienceMs = readLedgerOptions({}).statementTimeoutMs

interface Place {
  readonly servers: Servers
  readonly address: Address
  readonly session: Session
}

/** On the first of the servers that can be written. */
async function withConnection<Result>(
  { servers, address, session }: Place,
  body: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const failures: unknown[] = []
  for (;;) {
    const tried = servers.current()
    const connection = new servers.Client(connectionConfig(address, session))
    // What breaks the connection also fails the statement under way; the event needs a listener all the same.
    connection.on('error', () => {})
    try {
      await connection.connect()
      await servers.greet(connection, session.statementTimeoutMs)
      return await body(connection)
    } catch (error) {
      failures.push(error)
      if (failures.length === servers.count || servers.current() === tried)
        throw toOpenError(toOneError(failures), address.name)
    } finally {
      // Ends an open transaction as well.
      await connection.end().catch(() => {})
    }
  }
}

async function checkServer(connection: Connection, patienceMs: number): Promise<void> {
  const { rows } = await connection.query({
    text: `select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding`,
    query_timeout: patienceMs,
  })
  const { version, encoding } = rows[0] ?? {}
  if (Number(version) < 130_000) throw unsuitable('it is older than PostgreSQL 13: upgrade the server')
  if (encoding !== 'UTF8') throw unsuitable(`its encoding is ${encoding}: create a database with encoding UTF8`)
}

function unsuitable(reason: string): StoreOpenError {
  return new StoreOpenError('unsuitable-server', `the PostgreSQL database cannot be used: ${reason}`)
}

/** Leaves room for the name of the channel within PostgreSQL's 63 characters. */
function checkSchema(schema: string): void {
  if (/^(?!pg_)[a-z_][a-z0-9_]{0,49}$/.test(schema)) return
  throw new StoreOpenError(
    'bad-schema',
    `"${schema}" cannot be the name of the schema: use up to 50 small letters, digits and underscores, without pg_ before it`,
  )
}
