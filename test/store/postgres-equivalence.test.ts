import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { describeSharedPostgres, patient, takeLedger } from './postgres-subject.ts'
import { createPlayer, type Round, randomRounds } from './random-calls.ts'

const start = 1_000_000

/** Its end is decided without a look. */
const endedAfterAMillisecond: Round[] = [
  { calls: [{ type: 'provision', instanceId: 'i', delay: 0 }], pause: 0 },
  { calls: [{ type: 'claim', max: 1 }], pause: 1 },
  { calls: [{ type: 'finish', lease: 0 }], pause: 0 },
]

describeSharedPostgres('postgres does what memory does', server => {
  it('on any sequence of calls', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(randomRounds, async rounds => {
        const { schema, move, giveBack } = await takeLedger(server.url)
        await move(start)
        const clock = createVirtualClock(start)
        // Of the time that passes here the store does not believe the last millisecond (server-clock.ts), so what it decides without
        // a look would be that much early. Here one more passes in each pause: its time is the server's, or later, which is refused.
        const own = createVirtualClock(start)
        const store = await openPostgresStore({ url: server.url, schema, clock: own, ...patient })
        try {
          const memory = createPlayer(createMemoryStore({ clock }), clock.now)
          const postgres = createPlayer(store, clock.now)
          for (const { calls, pause } of rounds) {
            expect(await postgres.play(calls)).toEqual(await memory.play(calls))
            await clock.advance(pause)
            await move(clock.now())
            if (pause > 0) await own.advance(pause + 1)
          }
          expect(await postgres.everything()).toEqual(await memory.everything())
        } finally {
          await store.close()
          await giveBack()
        }
      }),
      { numRuns: 60, examples: [[endedAfterAMillisecond]] },
    )
  })
})
