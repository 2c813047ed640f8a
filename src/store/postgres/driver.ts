/** What we need of the package `pg`, which an application installs beside this one if it uses this store. */
import { StoreOpenError } from '../../store.ts'
import { loadPackage } from '../load-package.ts'

export type SqlValue = string | number | boolean | null | readonly string[] | readonly number[]
export type SqlRow = Readonly<Record<string, unknown>>

export interface Query {
  /** Where it has one, the server keeps the parsed statement and its plan. */
  readonly name?: string
  readonly text: string
  readonly values?: readonly SqlValue[]
  /** How long the client waits for an answer, whatever the server does. */
  readonly query_timeout?: number
}

export interface Notification {
  readonly processId: number
  readonly payload?: string
}

interface Queryable {
  query(query: Query): Promise<{ readonly rows: readonly SqlRow[] }>
}

export interface Connection extends Queryable {
  readonly processID: number | null
  connect(): Promise<unknown>
  end(): Promise<void>
  on(event: 'notification', listener: (notification: Notification) => void): unknown
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

export interface ConnectionConfig {
  readonly connectionString: string
  readonly application_name: string
  readonly options: string
  readonly connectionTimeoutMillis: number
  readonly keepAlive: boolean
  readonly types: { getTypeParser(type: number): (text: string) => unknown }
}

export interface PoolConfig extends ConnectionConfig {
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
export const types: ConnectionConfig['types'] = { getTypeParser: type => parsers[type] ?? (text => text) }

/** By the object identifiers of pg_type: boolean, integer, json, double precision. */
const parsers: Record<number, (text: string) => unknown> = {
  16: text => text === 't',
  23: Number,
  114: text => JSON.parse(text),
  701: Number,
}
