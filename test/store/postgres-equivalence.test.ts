import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { createSubject, describeSharedPostgres } from './postgres-subject.ts'
import { createPlayer, randomRounds } from './random-calls.ts'

describeSharedPostgres('postgres does what memory does', server => {
  it('on any sequence of calls', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(randomRounds, async rounds => {
        const subject = await createSubject(server, 1_000_000)
        const clock = createVirtualClock(1_000_000)
        const store = await subject.open()
        try {
          const memory = createPlayer(createMemoryStore({ clock }), clock.now)
          const postgres = createPlayer(store, clock.now)
          for (const { calls, pause } of rounds) {
            expect(await postgres.play(calls)).toEqual(await memory.play(calls))
            await clock.advance(pause)
            await subject.clock.advance(pause)
          }
          expect(await postgres.everything()).toEqual(await memory.everything())
        } finally {
          await store.close()
          await subject.destroy()
        }
      }),
      { numRuns: 60 },
    )
  })
})
