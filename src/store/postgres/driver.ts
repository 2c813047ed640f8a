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
  readonly url: string
  /** Server settings that the URL asks for. */
  readonly options: string
}

export function parseAddress(url: string): Address {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol))
    // Nothing of the text is shown: whatever it is, a password may stand in it.
    throw new StoreOpenError('bad-url', 'the URL of the PostgreSQL store must read postgres://user@host:port/database')
  const options = parsed.searchParams.get('options') ?? ''
  const host = parsed.host || (parsed.searchParams.get('host') ?? 'localhost')
  // The driver lets the URL win over what it is told besides; the options go together, ours last.
  parsed.searchParams.delete('options')
  return { name: `postgres://${host}${parsed.pathname}`, url: parsed.href, options }
}

export interface Session {
  readonly connectTimeoutMs: number
  /** The server ends a statement that takes longer; 0: none does. */
  readonly statementTimeoutMs: number
  /** Whether commits wait for the disk; undefined leaves the server's setting. */
  readonly synchronousCommit?: 'on' | 'off'
}

export function connectionConfig(address: Address, session: Session) {
  return {
    connectionString: address.url,
    application_name: 'purser',
    options: [address.options, ...settings(session)].join(' ').trim(),
    connectionTimeoutMillis: session.connectTimeoutMs,
    keepAlive: true,
    types,
  }
}

/**
 * Sent with the first message of a connection, so that they cost no round trip.
 * - Each statement of a function must see what was committed while the one before it waited for a lock: read committed.
 * - Every statement finds its few rows by an index, in its order. With the other ways off that stays so for a plan that was
 *   made when the table was empty, and for a queue, whose statistics are always old. Compiling such statements takes
 *   longer than running them.
 */
function settings({ statementTimeoutMs, synchronousCommit }: Session): string[] {
  return [
    '-c default_transaction_isolation=read\\ committed',
    '-c enable_seqscan=off',
    '-c enable_bitmapscan=off',
    '-c jit=off',
    `-c statement_timeout=${statementTimeoutMs}`,
    synchronousCommit === undefined ? '' : `-c synchronous_commit=${synchronousCommit}`,
  ]
}
