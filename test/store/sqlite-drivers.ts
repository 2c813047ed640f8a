import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { type Database, type Driver, loadLibsqlDriver, loadNodeDriver } from '../../src/store/sqlite/driver.ts'

const drivers = { 'node:sqlite': loadNodeDriver(), libsql: await loadLibsqlDriver() }

/** Runs the tests once for each driver; one that this Node has not is shown as skipped. */
export function describeDrivers(title: string, tests: (driver: Driver) => void): void {
  for (const [name, driver] of Object.entries(drivers)) {
    describe(`${title} on ${name}`, () => {
      if (driver === undefined) it.skip(`Node ${process.version} has no ${name}`)
      else tests(driver)
    })
  }
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'purser-sqlite-'))
}

/** A folder that goes with the test. */
export function testFolder(): string {
  const folder = temporaryFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface WatchedDriver extends Driver {
  /** Every text that was executed, of all databases. */
  readonly executed: string[]
  /** The database that was opened last. */
  database(): Database
}

/** The same driver, with a look at what goes through it. */
export function watch(driver: Driver): WatchedDriver {
  const executed: string[] = []
  let current: Database | undefined
  return {
    name: driver.name,
    executed,
    open(file) {
      const database = driver.open(file)
      current = database
      return {
        ...database,
        exec(sql) {
          executed.push(sql)
          database.exec(sql)
        },
      }
    },
    database() {
      if (current === undefined) throw new Error('no database was opened')
      return current
    },
  }
}
