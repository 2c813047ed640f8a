import { type Clock, systemClock } from '../../clock.ts'
import type { Observer } from '../../observer.ts'
import { type Store, StoreOpenError } from '../../store.ts'
import { type LedgerOptions, readLedgerOptions } from '../options.ts'
import { createWakeUps } from '../wake-ups.ts'
import { createDatabase } from './database.ts'
import {
  type Address,
  type Connection,
  connectionConfig,
  type Library,
  loadLibrary,
  parseAddress,
  type Session,
} from './driver.ts'
import { toOpenError } from './failures.ts'
import { startListener } from './listener.ts'
import { findPending, migrate, toScript } from './migrate.ts'
import { createServerClock } from './server-clock.ts'
import { createStatements } from './statements.ts'
import { createPostgresStore } from './store.ts'

/** The schema is made where it is missing. */
export interface MigrationTarget extends Pick<LedgerOptions, 'schema' | 'connectTimeout'> {
  /** `postgres://user:password@host:port/database`, with what the package pg understands (`?sslmode=verify-full`). */
  readonly url: string
}

export interface PostgresStoreOptions extends MigrationTarget, LedgerOptions {
  /** For pauses between attempts to reconnect, and to know the database's clock between two answers: times are its own. */
  readonly clock?: Clock
  readonly observer?: Observer
}

/** Opens the ledger for this replica and brings its schema up to date; throws StoreOpenError where it cannot be had. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock = systemClock, observer } = options
  const { schema, poolSize, connectTimeoutMs, statementTimeoutMs } = readLedgerOptions(options)
  checkSchema(schema)
  const address = parseAddress(options.url)
  const name = `${address.name} (schema ${schema})`
  const library = await loadLibrary()
  const patience = { connectTimeoutMs, statementTimeoutMs }
  const settings = await withConnection(library, address, patience, async connection => {
    const found = await checkServer(connection, statementTimeoutMs)
    const migrations = await migrate(connection, schema, statementTimeoutMs)
    if (migrations > 0) observer?.['store.migrated']?.({ store: name, migrations })
    return found
  })
  const session: Session = { ...patience, ...settings }
  const pool = new library.Pool({
    ...connectionConfig(address, session),
    max: poolSize,
    idleTimeoutMillis: 60_000,
    // The server should be the first to give up, because then it is known that nothing was done.
    query_timeout: statementTimeoutMs + 2_000,
  })
  const wakeUps = createWakeUps()
  const listener = await startListener({
    // It writes nothing that must last.
    connect: () => new library.Client(connectionConfig(address, { ...session, synchronousCommit: 'off' })),
    channel: `${schema}_wake_up`,
    clock,
    onWakeUp: wakeUp => wakeUps.send([wakeUp]),
    onTrouble: error => observer?.['store.wakeUpsLost']?.({ store: name, error }),
  })
  const quoted = `"${schema}"`
  return createPostgresStore({
    name,
    schema: quoted,
    database: createDatabase(pool, name),
    statements: createStatements(quoted),
    clock: createServerClock(clock),
    wakeUps,
    listener,
  })
}

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

async function onSchema<Result>(
  target: MigrationTarget,
  body: (connection: Connection, schema: string) => Promise<Result>,
): Promise<Result> {
  const { schema, connectTimeoutMs } = readLedgerOptions(target)
  checkSchema(schema)
  const session = { connectTimeoutMs, statementTimeoutMs: patienceMs }
  return withConnection(await loadLibrary(), parseAddress(target.url), session, async connection => {
    await checkServer(connection, patienceMs)
    return body(connection, schema)
  })
}

const patienceMs = readLedgerOptions({}).statementTimeoutMs

async function withConnection<Result>(
  library: Library,
  address: Address,
  session: Session,
  body: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = new library.Client(connectionConfig(address, session))
  // What breaks the connection also fails the statement under way; the event needs a listener all the same.
  connection.on('error', () => {})
  try {
    await connection.connect()
    return await body(connection)
  } catch (error) {
    throw toOpenError(error, address.name)
  } finally {
    // Ends an open transaction as well.
    await connection.end().catch(() => {})
  }
}

/** An answer that was given must outlive a power cut, even on a server whose default is otherwise. */
async function checkServer(connection: Connection, patienceMs: number): Promise<Pick<Session, 'synchronousCommit'>> {
  const { rows } = await connection.query({
    text: `select current_setting('server_version_num')::integer as version, pg_is_in_recovery() as standby,
      current_setting('server_encoding') as encoding, current_setting('synchronous_commit') as commit`,
    query_timeout: patienceMs,
  })
  const { version, standby, encoding, commit } = rows[0] ?? {}
  if (Number(version) < 130_000) throw unsuitable('it is older than PostgreSQL 13: upgrade the server')
  if (encoding !== 'UTF8') throw unsuitable(`its encoding is ${encoding}: create a database with encoding UTF8`)
  if (standby === true) throw unsuitable('it is a standby and read-only: name the primary server')
  return { synchronousCommit: commit === 'off' ? 'on' : undefined }
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
