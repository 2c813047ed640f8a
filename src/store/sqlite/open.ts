import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Clock, systemClock } from '../../clock.ts'
import type { Store } from '../../store.ts'
import { StoreOpenError } from '../../store.ts'
import { type Database, type Driver, loadDriver, resultCode, resultCodes } from './driver.ts'
import { toOpenError, unusablePath } from './failures.ts'
import { checkVersion, migrate } from './migrations.ts'
import { describeOwner, noteOwner, removeOwner } from './owner.ts'
import { createSqliteStore } from './store.ts'

export interface SqliteStoreOptions {
  /** Made where it is missing, with its folders. */
  readonly file: string
  readonly clock?: Clock
}

/** Opens the database for this process alone; throws StoreOpenError where it cannot be had. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  return openWith(await loadDriver(), options)
}

/** The same with a driver of the caller's choice. */
export function openWith(driver: Driver, { file: name, clock = systemClock }: SqliteStoreOptions): Store {
  const file = resolve(name)
  createFile(file)
  const database = openDatabase(driver, file)
  try {
    lock(database, file)
    configure(database)
    migrate(database)
    noteOwner(file, clock.now())
    return createSqliteStore({ database, file, clock, onClosed: () => removeOwner(file) })
  } catch (error) {
    database.close()
    throw toOpenError(error, file)
  }
}

/**
 * For its owner's eyes only, before SQLite would make it readable for all. A file that exists is not touched: to open and
 * close it here would end the locks that this process holds on it.
 */
function createFile(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusablePath(file, error)
  }
}

function openDatabase(driver: Driver, file: string): Database {
  try {
    return driver.open(file)
  } catch (error) {
    throw toOpenError(error, file)
  }
}

/** Exclusive mode keeps the lock from the first access until the process ends, whichever way it ends. */
function lock(database: Database, file: string): void {
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    checkVersion(database, file)
    const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode
    if (mode !== 'wal') throw unusablePath(file, new Error(`its journal mode stays ${String(mode)}`))
    database.exec('BEGIN IMMEDIATE; COMMIT')
  } catch (error) {
    if (resultCode(error) !== resultCodes.busy) throw error
    throw new StoreOpenError(
      'locked',
      `${file} is held by ${describeOwner(file)}: one process at a time can use it. Stop that process, or name another file`,
      error,
    )
  }
}

/**
 * FULL syncs the log at every commit: an answer that was given outlives a power cut. The log is copied into the database
 * after 16 MB instead of 4, and the cache is 32 MB instead of 2, since a batch touches many pages of every index.
 */
function configure(database: Database): void {
  database.exec(`PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
    PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -32768`)
}
