import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { Driver } from '../../src/store/sqlite/driver.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import { StoreOpenError, StoreUnavailableError } from '../../src/store.ts'
import { instanceRow, provision, standing } from '../../src/testing/store-contract/rows.ts'
import { describeDrivers, testFolder, watch } from './sqlite-drivers.ts'

const clock = systemClock

describeDrivers('sqlite where it cannot be opened', driver => {
  it('makes the folders that are missing, and a file for its owner only', async () => {
    const file = join(testFolder(), 'a', 'b', 'ledger.db')
    const store = openWith(driver, { file, clock })
    await store.ping()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    await store.close()
  })

  it('closes a file that others can read, and the log beside it', async () => {
    const file = join(testFolder(), 'ledger.db')
    await openWith(driver, { file, clock }).close()
    chmodSync(file, 0o644)
    const store = openWith(driver, { file, clock })
    await provision(store, 'i')
    expect([file, `${file}-wal`].map(path => statSync(path).mode & 0o777)).toEqual([0o600, 0o600])
    await store.close()
  })

  const isRoot = process.getuid?.() === 0
  it.skipIf(!isRoot)(
    `refuses one that others can read and this user cannot close${isRoot ? '' : ' (skipped: only root can be another user)'}`,
    async () => {
      const folder = testFolder()
      const file = join(folder, 'ledger.db')
      await openWith(driver, { file, clock }).close()
      chmodSync(folder, 0o777)
      chmodSync(file, 0o666)
      process.seteuid?.(65_534)
      try {
        expect(failure(driver, file)).toMatchObject({
          failure: 'unusable-path',
          message: expect.stringContaining(`run "chmod 600 ${file}" as its owner`),
        })
      } finally {
        process.seteuid?.(0)
      }
      expect(statSync(file).mode & 0o777).toBe(0o666)
    },
  )

  it('names a path that cannot be', () => {
    const folder = testFolder()
    writeFileSync(join(folder, 'file'), '')
    const file = join(folder, 'file', 'below', 'ledger.db')
    expect(failure(driver, file)).toMatchObject({ failure: 'unusable-path', message: expect.stringContaining(file) })
  })

  it('names a folder in the place of the file', () => {
    const file = join(testFolder(), 'ledger.db')
    mkdirSync(file)
    expect(failure(driver, file)).toMatchObject({ failure: 'unusable-path', message: expect.stringContaining(file) })
  })

  it.skipIf(isRoot)(
    `names a folder that cannot be written to${isRoot ? ' (skipped: root may write anywhere)' : ''}`,
    () => {
      const folder = join(testFolder(), 'closed')
      mkdirSync(folder, { mode: 0o500 })
      expect(failure(driver, join(folder, 'ledger.db'))).toMatchObject({ failure: 'unusable-path' })
    },
  )

  it('names a file that is not a database, and leaves it as it is', () => {
    const file = join(testFolder(), 'ledger.db')
    const content = 'dear diary '.repeat(1000)
    writeFileSync(file, content)
    expect(failure(driver, file)).toMatchObject({ failure: 'not-a-database', message: expect.stringContaining(file) })
    expect(readFileSync(file, 'utf8')).toBe(content)
  })

  it('leaves the database of another program alone', () => {
    const file = join(testFolder(), 'ledger.db')
    change(driver, file, 'create table theirs (a); insert into theirs values (1)')
    const before = readFileSync(file)
    expect(failure(driver, file)).toMatchObject({ failure: 'foreign-database' })
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('refuses a database of a newer release', async () => {
    const file = join(testFolder(), 'ledger.db')
    await openWith(driver, { file, clock }).close()
    change(driver, file, 'pragma user_version = 99')
    const error = failure(driver, file)
    expect(error).toMatchObject({ failure: 'newer-version', message: expect.stringContaining('99') })
  })

  it('refuses a second store on the same file in the same process, and the first goes on', async () => {
    const file = join(testFolder(), 'ledger.db')
    const store = openWith(driver, { file, clock })
    const error = failure(driver, file)
    expect(error).toMatchObject({ failure: 'locked', message: expect.stringContaining(`process ${process.pid}`) })
    await provision(store, 'i')
    expect(failure(driver, file)).toMatchObject({ failure: 'locked' })
    await store.close()
  })
})

describeDrivers('sqlite with a full disk', driver => {
  it('says unavailable to each of many writes, loses nothing, and works again with room', async () => {
    const watched = watch(driver)
    const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock })
    await standing(store, 'before')
    const pages = Number(watched.database().prepare('pragma page_count').get()?.page_count)
    watched.database().exec(`pragma max_page_count = ${pages}`)

    const large = { filling: 'x'.repeat(20_000) }
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => standing(store, `i${index}`, { state: large })),
    )
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailableError) })
      expect(outcome).toMatchObject({ reason: { message: expect.stringContaining('the disk is full') } })
    }
    expect(await store.instance('i0')).toBeUndefined()
    expect((await store.instance('before'))?.id).toBe('before')
    await store.ping()

    watched.database().exec('pragma max_page_count = 100000')
    await standing(store, 'after', { state: large })
    expect((await store.instance('after'))?.state).toEqual(large)
    await store.close()
  })

  it('lets through what still fits beside what does not', async () => {
    const watched = watch(driver)
    const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock })
    await standing(store, 'i')
    const pages = Number(watched.database().prepare('pragma page_count').get()?.page_count)
    watched.database().exec(`pragma max_page_count = ${pages}`)
    const [small, large] = await Promise.allSettled([
      standing(store, 'i', { updatedAt: 42 }),
      standing(store, 'large', { state: { filling: 'x'.repeat(20_000) } }),
    ])
    expect([small?.status, large?.status]).toEqual(['fulfilled', 'rejected'])
    expect(await store.instance('i')).toEqual(instanceRow('i', { phase: 'ready', created: true, updatedAt: 42 }))
    await store.close()
  })
})

function failure(driver: Driver, file: string): StoreOpenError {
  try {
    openWith(driver, { file, clock })
  } catch (error) {
    if (error instanceof StoreOpenError) return error
    throw error
  }
  throw new Error(`${file} was opened`)
}

function change(driver: Driver, file: string, sql: string): void {
  const database = driver.open(file)
  database.exec(sql)
  database.close()
}
