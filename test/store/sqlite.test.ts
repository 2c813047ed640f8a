import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { Keyring } from '../../src/sealing.ts'
import { type Driver, loadLibsqlDriver, loadNodeDriver } from '../../src/store/sqlite/driver.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import { ledgerContract, readsContract, type StoreSubject } from '../../src/testing/store-contract.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { runStoreContract } from './run-contract.ts'
import { describeDrivers, temporaryFolder, testFolder } from './sqlite-drivers.ts'
import { testKeyring } from './test-keyring.ts'

describeDrivers('sqlite', driver => runStoreContract('sqlite', () => createSubject(driver)))

// What has something sealed in it, and once: it is the same whichever library writes it. The other stores have encryption.test.ts.
describe('sqlite, encrypted', async () => {
  const driver = loadNodeDriver() ?? (await loadLibsqlDriver())
  if (driver === undefined) return
  const create = () => createSubject(driver, testKeyring('2026-a'))
  runStoreContract('sqlite, encrypted', create, { cases: [...ledgerContract, ...readsContract] })
})

describe('openSqliteStore', () => {
  it('finds a driver by itself and is named by its file', async () => {
    const file = join(testFolder(), 'ledger.db')
    const store = await openSqliteStore({ file, clock: systemClock })
    expect(store.name).toBe(`sqlite:${file}`)
    await store.ping()
    await store.close()
  })
})

function createSubject(driver: Driver, keyring?: Keyring): StoreSubject {
  const folder = temporaryFolder()
  const clock = createVirtualClock()
  return {
    clock,
    durable: true,
    open: async () => openWith(driver, { file: join(folder, 'ledger.db'), clock, keyring }),
    destroy: async () => rmSync(folder, { recursive: true }),
  }
}
