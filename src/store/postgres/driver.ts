/** What we need of the package `pg`, which an application installs beside this one if it uses this store, and how we connect. */
import { StoreOpenError } from '../../store.ts'
import { loadPackage } from '../load-package.ts'

export type SqlValue = string | number | boolean | null | readonly string[] | readonly number[]
export type SqlRow = Readonly<Record<string, unknown>>

export interface Query {
  /** Where it has one, each connection parses and plans it once. */
  readonly name?: string
  readonly text: string
  readonly values?: readonly SqlValue[]
  /** How long the client waits for an answer, whatever the server does. */
  readonly query_timeout?: number
}

interface Queryable {
  query(query: Query): Promise<{ readonly rows: readonly SqlRow[] }>
}

export interface Connection extends Queryable {
  readonly processID: number | null
  readonly connection: { readonly stream: { destroy(): void } }
  connect(): Promise<unknown>
  end(): Promise<void>
  on(
    event: 'notification',
    listener: (notification: { readonly processId: number; readonly payload?: string }) => void,
  ): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
}

export interface PooledConnection extends Queryable {
  /** Back to the pool, or out of it where `true` is said. */
  release(destroy: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
}

export interface Pool {
  connect(): Promise<PooledConnection>
  end(): Promise<void>
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'connect', listener: (connection: PooledConnection) => void): unknown
}

type ConnectionConfig = ReturnType<typeof connectionConfig>

interface PoolConfig extends ConnectionConfig {
  readonly max: number
  readonly idleTimeoutMillis: number
  readonly query_timeout: number
  /** What makes its connections; the driver's own where it is not said. */
  readonly Client?: new (
    config: ConnectionConfig,
  ) => Connection
  /** Asked about each new connection before its first use; one with an error is not used. */
  readonly verify?: (connection: PooledConnection, done: (error?: unknown) => void) => void
}

export interface Library {
  readonly Pool: new (config: PoolConfig) => Pool
  readonly Client: new (config: ConnectionConfig) => Connection
}

export async function loadLibrary(): Promise<Library> {
  const library = await loadPackage<Library>('pg')
  if (library !== undefined) return library
  throw new StoreOpenError('no-driver', 'the PostgreSQL store needs the package pg: run "npm install pg"')
}

/** Our own, so that an application that changes the package's global parsers does not change what we read. */
export const types = { getTypeParser: (type: number) => parsers[type] ?? ((text: string) => text) }

/** By the object identifiers of pg_type: boolean, integer, json, double precision. */
const parsers: Record<number, (text: string) => unknown> = {
  16: text => text === 't',
  23: Number,
  114: text => JSON.parse(text),
  701: Number,
}

export interface Address {
  /** `postgres://host:port/database`, without user, password and options. */
  readonly name: string
  /** One for each server, as the driver takes it. */
  readonly urls: readonly [string, ...string[]]
  /** Server settings that the URL asks for. */
  readonly options: string
}

/** `postgres://user@host:port/database`, or with several `host:port,host:port`, as libpq has it. */
export function parseAddress(url: string): Address {
  const [, before = '', hosts = '', after = ''] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  const [first, ...others] = hosts.split(',').map(host => parseServer(before, host, after))
  if (first === undefined || (others.length > 0 && hosts.split(',').includes(''))) throw badUrl()
  checkTarget(first.target)
  const names = [first, ...others].map(({ host }) => host)
  return {
    name: `postgres://${names.join(',')}${first.path}`,
    urls: [first.url, ...others.map(({ url }) => url)],
    options: first.options,
  }
}

function parseServer(before: string, host: string, after: string) {
  const url = `${before}${host}${after}`
  if (before === '' || !URL.canParse(url)) throw badUrl()
  const parsed = new URL(url)
  const { searchParams } = parsed
  const found = {
    host: parsed.host || (searchParams.get('host') ?? 'localhost'),
    path: parsed.pathname,
    options: searchParams.get('options') ?? '',
    target: searchParams.get('target_session_attrs') ?? 'read-write',
  }
  // The driver lets the URL win over what it is told besides; the options go together, ours last.
  for (const name of ['options', 'target_session_attrs']) searchParams.delete(name)
  return { ...found, url: parsed.href }
}

function badUrl(): StoreOpenError {
  // Nothing of the text is shown: whatever it is, a password may stand in it.
  const forms = 'postgres://user@host:port/database, or with several host:port,host:port'
  return new StoreOpenError('bad-url', `the URL of the PostgreSQL store must read ${forms}`)
}

/** Whatever a URL says of it, only a primary can be written. */
function checkTarget(target: string): void {
  if (target === 'read-write' || target === 'primary') return
  const reason = 'target_session_attrs must be read-write or primary, or left out: the ledger is written'
  throw new StoreOpenError('bad-url', `the URL of the PostgreSQL store cannot be used: ${reason}`)
}

export interface Session {
  readonly connectTimeoutMs: number
  /** The server ends a statement that takes longer; 0: none does. */
  readonly statementTimeoutMs: number
  /** Commits do not wait for the disk: for what need not last. */
  readonly careless?: boolean
}

export function connectionConfig({ urls, options }: Address, session: Session) {
  const settings = Object.entries(settingsOf(session)).map(([name, value]) => `-c ${name}=${value.replace(' ', '\\ ')}`)
  return {
    connectionString: urls[0],
    application_name: 'purser',
    options: [options, ...settings].join(' ').trim(),
    connectionTimeoutMillis: session.connectTimeoutMs,
    keepAlive: true,
    types,
  }
}

/**
 * Sent with the first message of a connection, so that they cost no round trip.
 * - Each statement of a function must see what was committed while the one before it waited for a lock: read committed.
 * - Every statement finds its few rows by an index, in its order, one row after the other. With the other ways off that stays
 *   so for a plan that was made when the table was empty, and for a queue, whose statistics are always old. So one plan is
 *   as good as another: it is kept. Planning and compiling such statements take longer than running them.
 */
export function settingsOf({ statementTimeoutMs, careless }: Session): Readonly<Record<string, string>> {
  return {
    default_transaction_isolation: 'read committed',
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    jit: 'off',
    plan_cache_mode: 'force_generic_plan',
    statement_timeout: `${statementTimeoutMs}`,
    ...(careless === true ? { synchronous_commit: 'off' } : {}),
  }
}
