import fc from 'fast-check'
import { describe, it } from 'vitest'
import { commands } from './commands.ts'
import { Player } from './player.ts'
import { createSimulation, type StoreKind, storeKinds } from './simulation.ts'

const long = process.env.PURSER_TEST_LONG === '1'
const runs: Record<StoreKind, number> = { memory: 120, sqlite: 40 }

describe('the broker against a model of the OSB API', () => {
  it.each(storeKinds)('any requests, faults, crashes and passing of time, on %s', async kind => {
    await fc.assert(
      fc.asyncProperty(commands, async played => {
        const simulation = await createSimulation({ kind })
        try {
          const player = new Player(simulation)
          for (const command of played) await player.play(command)
          await player.finish()
        } finally {
          await simulation.end()
        }
      }),
      { numRuns: runs[kind] * (long ? 30 : 1) },
    )
  })
})
