import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import { type Clock, systemClock } from '../../clock.ts'
import type { Keyring } from '../../sealing.ts'
import { type Store, StoreOpenError } from '../../store.ts'
import { requireKeys } from '../require-keys.ts'
import { type Database, type Driver, loadDriver, resultCode, resultCodes } from './driver.ts'
import { fileGone, toOpenError, unusablePath } from './failures.ts'
import { checkVersion, migrate } from './migrations.ts'
import { createSqliteStore } from './store.ts'

export interface SqliteStoreOptions {
  /** Made where it is missing, with its folders. */
  readonly file: string
  readonly clock?: Clock
  /** What values are encrypted with. */
  readonly keyring?: Keyring
}

/** Opens the database for this process alone; throws StoreOpenError where it cannot be had. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  return requireKeys(openWith(await loadDriver(), options))
}

/** The same with a driver of the caller's choice. */
export function openWith(driver: Driver, options: SqliteStoreOptions): Store {
  const file = resolve(options.file)
  createFile(file)
  const database = openDatabase(driver, file)
  try {
    lock(database, file)
    configure(database)
    migrate(database)
    const clock = goOn(options.clock ?? systemClock, latestTime(database))
    // The lock is ours: whoever had a name has ended, and nobody needs to wait for a sign of it.
    database.exec('update replica set seen_at = null')
    noteOwner(file, clock.now())
    const checkFiles = watchFiles(file)
    const openCopy = (copy: string) => driver.open(copy)
    return createSqliteStore({
      database,
      file,
      clock,
      keyring: options.keyring,
      checkFiles,
      openCopy,
      onClosed: () => removeOwner(file),
    })
  } catch (error) {
    database.close()
    throw toOpenError(error, file)
  }
}

/**
 * For its owner's eyes only, before SQLite would make it readable for all: the log beside it gets the same rights. A file that
 * exists is closed to others, and not opened: to close it here would end the locks that this process holds on it.
 */
function createFile(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusablePath(file, error)
    closeToOthers(file)
  }
}

function closeToOthers(file: string): void {
  for (const path of [file, `${file}-wal`]) {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined || !found.isFile() || (found.mode & 0o077) === 0) continue
    try {
      chmodSync(path, found.mode & 0o700)
    } catch {
      throw new StoreOpenError(
        'unusable-path',
        `${path} can be read by others, and this user cannot change that: run "chmod 600 ${path}" as its owner`,
      )
    }
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
      `${file} is held by ${readOwner(file) ?? 'another process'}: one process at a time can use it. Stop that process, or name another file`,
      error,
    )
  }
}

/**
 * FULL syncs the log at every commit: an answer that was given outlives a power cut. The log is copied into the database
 * after 16 MB instead of 4, and the cache is 32 MB instead of 2, since a batch touches many pages of every index. What SQLite
 * needs for a moment stays in memory: a container may have no folder for temporary files, and they would hold secrets.
 */
function configure(database: Database): void {
  database.exec(`PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;
    PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -32768`)
}

/** A clock that was set back while no broker ran must not make what waits in the ledger wait for it to come again. */
function goOn(clock: Clock, latest: number): Clock {
  const behind = Math.max(0, latest - clock.now())
  return behind === 0 ? clock : { ...clock, now: () => clock.now() + behind }
}

/** When the ledger was last written, as far as its rows tell. */
function latestTime(database: Database): number {
  const row = database
    .prepare(
      `select max(ifnull((select max(accepted_at) from operation), 0),
        ifnull((select max(finished_at) from operation where finished_at is not null), 0),
        ifnull((select max(checkpoint_at) from operation where state in ('queued', 'running')), 0),
        ifnull((select max(max(started_at, ifnull(finished_at, 0))) from chore), 0),
        ifnull((select max(max(since, ifnull(seen_at, 0))) from replica), 0)) as latest`,
    )
    .get()
  return Number(row?.latest)
}

/**
 * SQLite goes on writing to files that were deleted or replaced, and all of it would be lost. What is answered throws where
 * they are no longer those that were opened.
 */
function watchFiles(file: string): () => void {
  const files = [file, `${file}-wal`]
  const identityOf = (path: string) => {
    const found = statSync(path, { throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}`
  }
  const opened = files.map(identityOf)
  return () => {
    const index = files.findIndex((path, index) => identityOf(path) !== opened[index])
    if (index >= 0) throw fileGone(files[index] ?? file)
  }
}

/*
 * Who holds the database, for the error message of whoever cannot have it. The lock itself is the operating system's, on
 * the database file, and ends with the process; this note only puts a name to it and may be stale.
 */

function noteOwner(file: string, now: number): void {
  const note = { pid: process.pid, host: hostname(), since: new Date(now).toISOString() }
  ignoringErrors(() => writeFileSync(noteOf(file), `${JSON.stringify(note)}\n`))
}

function removeOwner(file: string): void {
  ignoringErrors(() => rmSync(noteOf(file), { force: true }))
}

/** `process 42 on host db1 since 2026-01-01T00:00:00.000Z`; undefined where there is no note. */
export function readOwner(file: string): string | undefined {
  try {
    const { pid, host, since } = JSON.parse(readFileSync(noteOf(file), 'utf8'))
    return `process ${pid} on host ${host} since ${since}`
  } catch {
    return undefined
  }
}

function noteOf(file: string): string {
  return `${file}.owner.json`
}

/** A note that cannot be written or removed (a full disk) must not stop a store that works. */
function ignoringErrors(write: () => void): void {
  try {
    write()
  } catch {
    // Only the error message of a second process gets poorer.
  }
}
