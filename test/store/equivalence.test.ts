import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { createPlayer, randomRounds } from './random-calls.ts'
import { describeDrivers, temporaryFolder } from './sqlite-drivers.ts'

describeDrivers('sqlite does what memory does', driver => {
  it('on any sequence of calls, one after the other or at once', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(randomRounds, async rounds => {
        const folder = temporaryFolder()
        const clock = createVirtualClock(1_000_000)
        const store = openWith(driver, { file: join(folder, 'ledger.db'), clock })
        const memory = createPlayer(createMemoryStore({ clock }), clock.now)
        const sqlite = createPlayer(store, clock.now)
        try {
          for (const { calls, pause } of rounds) {
            expect(await sqlite.playAtOnce(calls)).toEqual(await memory.playAtOnce(calls))
            await clock.advance(pause)
          }
          expect(await sqlite.everything()).toEqual(await memory.everything())
        } finally {
          await store.close()
          rmSync(folder, { recursive: true })
        }
      }),
      { numRuns: 100 },
    )
  })
})
