import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openWith } from '../../src/store/mongodb/open.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { describeSharedMongo, newDatabase } from './mongodb-subject.ts'
import { createPlayer, randomRounds } from './random-calls.ts'

describeSharedMongo('mongodb does what memory does', server => {
  it('on any sequence of calls', { timeout: 300_000 }, async () => {
    const database = newDatabase()
    let runs = 0
    await fc.assert(
      fc.asyncProperty(randomRounds, async rounds => {
        const clock = createVirtualClock(1_000_000)
        const schema = `run${runs++}`
        const store = await openWith({ url: server().url, database, schema }, () => ({ $literal: clock.now() }))
        const mongo = createPlayer(store, clock.now)
        const memory = createPlayer(createMemoryStore({ clock }), clock.now)
        try {
          for (const { calls, pause } of rounds) {
            expect(await mongo.play(calls)).toEqual(await memory.play(calls))
            await clock.advance(pause)
          }
          expect(await mongo.everything()).toEqual(await memory.everything())
        } finally {
          await store.close()
        }
      }),
      { numRuns: 25 },
    )
  })
})
