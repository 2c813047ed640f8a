/**
 * What we need of a SQLite library, and the two that have it: Node's own, and `libsql` for Nodes without. Both work in the
 * calling thread and finish a statement before they return.
 */
import { StoreOpenError } from '../../store.ts'
import { loadPackage } from '../load-package.ts'

export type SqlValue = string | number | null
export type SqlRow = Readonly<Record<string, unknown>>

export interface Statement {
  /** For statements that give one row at most. */
  get(...values: SqlValue[]): SqlRow | undefined
  all(...values: SqlValue[]): readonly SqlRow[]
  /** Answers how many rows were changed. */
  run(...values: SqlValue[]): number
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export interface Driver {
  readonly name: 'node:sqlite' | 'libsql'
  open(file: string): Database
}

export async function loadDriver(): Promise<Driver> {
  const driver = loadNodeDriver() ?? (await loadLibsqlDriver())
  if (driver !== undefined) return driver
  throw new StoreOpenError(
    'no-driver',
    `this Node (${process.version}) has no node:sqlite and the package libsql is not installed: run "npm install libsql", or use Node 22.13 or later`,
  )
}

/** Node's own SQLite, from 22.5 on (22.13 without a flag). */
export function loadNodeDriver(): Driver | undefined {
  const library = process.getBuiltinModule('node:sqlite') as { readonly DatabaseSync: LibraryDatabase } | undefined
  return library && createDriver('node:sqlite', library.DatabaseSync, takingList)
}

export async function loadLibsqlDriver(load?: () => Promise<unknown>): Promise<Driver | undefined> {
  const library = await loadPackage<{ readonly default: LibraryDatabase }>('libsql', load)
  return library && createDriver('libsql', library.default, takingArray)
}

function createDriver(
  name: Driver['name'],
  LibraryDatabase: LibraryDatabase,
  toStatement: (statement: LibraryStatement) => Statement,
): Driver {
  return {
    name,
    open(file) {
      const database = new LibraryDatabase(file)
      return {
        exec: sql => database.exec(sql),
        prepare: sql => toStatement(database.prepare(sql)),
        close: () => database.close(),
      }
    },
  }
}

function takingList(statement: LibraryStatement): Statement {
  return {
    get: (...values) => statement.get(...values),
    all: (...values) => statement.all(...values),
    run: (...values) => Number(statement.run(...values).changes),
  }
}

/** The values go in as one array: libsql takes a single argument that is an object, null too, for named values. */
function takingArray(statement: LibraryStatement): Statement {
  return {
    get: (...values) => statement.get(values),
    all: (...values) => statement.all(values),
    run: (...values) => Number(statement.run(values).changes),
  }
}

/** The result code of an error that came from SQLite, without its extension; undefined for any other error. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { rawCode, errcode } = error as { rawCode?: unknown; errcode?: unknown }
  const code = rawCode ?? errcode
  if (typeof code === 'number') return code & 0xff
  // libsql cannot open a file: the error has no code, only its text.
  return error.message.startsWith('ConnectionFailed(') ? resultCodes.cantOpen : undefined
}

export const resultCodes = {
  busy: 5,
  noMemory: 7,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  constraint: 19,
  notADatabase: 26,
} as const

/** What the libraries have alike. */
type LibraryDatabase = new (
  file: string,
) => {
  exec(sql: string): void
  prepare(sql: string): LibraryStatement
  close(): void
}

interface LibraryStatement {
  get(...values: readonly unknown[]): SqlRow | undefined
  all(...values: readonly unknown[]): readonly SqlRow[]
  run(...values: readonly unknown[]): { readonly changes: number | bigint }
}
