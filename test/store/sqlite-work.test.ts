import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { Database } from '../../src/store/sqlite/driver.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import { sql } from '../../src/store/sqlite/statements.ts'
import { bind, claimOne, finish, leaseOf, provision, standing } from '../../src/testing/store-contract/rows.ts'
import { describeDrivers, testFolder, watch } from './sqlite-drivers.ts'

const clock = systemClock

describeDrivers('sqlite: the work behind a call', driver => {
  it('commits the writes of one turn together', async () => {
    const watched = watch(driver)
    const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock })
    const commits = () => watched.executed.filter(text => text === 'COMMIT').length
    await Promise.all(Array.from({ length: 100 }, (_, index) => provision(store, `i${index}`)))
    expect(commits()).toBe(1)
    for (let index = 0; index < 5; index += 1) await standing(store, `j${index}`)
    expect(commits()).toBe(6)
    await store.close()
  })

  it('resolves nothing before the commit', async () => {
    const watched = watch(driver)
    const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock })
    const atAnswer: (string | undefined)[] = []
    await Promise.all(['a', 'b'].map(id => provision(store, id).then(() => atAnswer.push(watched.executed.at(-1)))))
    expect(atAnswer).toEqual(['COMMIT', 'COMMIT'])
    await store.close()
  })

  it('is set to survive a power cut', async () => {
    const watched = watch(driver)
    const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock })
    const pragma = (name: string) => watched.database().prepare(`pragma ${name}`).get()?.[name]
    expect(['journal_mode', 'synchronous', 'foreign_keys', 'locking_mode'].map(pragma)).toEqual([
      'wal',
      2,
      1,
      'exclusive',
    ])
    await store.close()
  })

  it('needs no folder for temporary files', async () => {
    const watched = watch(driver)
    const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock })
    expect(watched.database().prepare('pragma temp_store').get()?.temp_store).toBe(2)
    expect(watched.executed.findIndex(text => text.includes('temp_store'))).toBeLessThan(
      watched.executed.findIndex(text => text.includes('create table')),
    )
    await store.close()
  })

  it('keeps its log small, whatever is read in between', async () => {
    const file = join(testFolder(), 'ledger.db')
    const store = openWith(driver, { file, clock })
    for (let index = 0; index < 300; index += 1) {
      await standing(store, `i${index}`, { state: { filling: 'x'.repeat(128_000) } })
      await bind(store, `i${index}`, 'b')
      await finish(store, leaseOf(await claimOne(store)))
      await store.bindings(`i${index}`)
    }
    expect(statSync(file).size).toBeGreaterThan(25_000_000)
    expect(statSync(`${file}-wal`).size).toBeLessThan(20_000_000)
    await store.close()
  })

  it.each(['snapshot', 'activeOperation', 'instanceTombstones', 'bindingTombstones'] as const)(
    '%s looks at active operations alone, however many have ended',
    async name => {
      const watched = watch(driver)
      const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock })
      const plan = planOf(watched.database(), sql[name]).filter(detail => / operation /.test(detail))
      expect(plan).toEqual([expect.stringContaining('operation_one_active')])
      await store.close()
    },
  )

  it('finds what a clean-up may remove by an index of nothing else', async () => {
    const watched = watch(driver)
    const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock })
    expect(planOf(watched.database(), sql.spent)[0]).toMatch(
      /USING INDEX operation_spent \(.*=\? AND state=\? AND spent_at/,
    )
    await store.close()
  })

  describe('finds its rows by an index', () => {
    for (const [name, text] of Object.entries(sql)) {
      it(name, async () => {
        const watched = watch(driver)
        const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock })
        // Lists in JSON, and what a statement has found itself, are no tables.
        const others = /^SCAN (?!CONSTANT|\(|json_each|found)/
        const scans = planOf(watched.database(), text).filter(detail => others.test(detail))
        expect(scans).toEqual([])
        await store.close()
      })
    }
  })
})

function planOf(database: Database, text: string): string[] {
  // Values without a number are counted, others have their place in it: node:sqlite takes none too many.
  const places = Array.from(text.matchAll(/\?(\d*)/g), ([, number], index) => Number(number || index + 1))
  const values = Array(Math.max(0, ...places)).fill(null)
  const plan = database.prepare(`explain query plan ${text}`).all(...values)
  return plan.map(row => String(row.detail))
}
