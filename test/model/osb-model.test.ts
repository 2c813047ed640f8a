import fc from 'fast-check'
import { describe, it } from 'vitest'
import { type Command, Player } from './player.ts'
import { createSimulation, type StoreKind, storeKinds } from './simulation.ts'

const long = process.env.PURSER_TEST_LONG === '1'
const runs: Record<StoreKind, number> = { memory: 100, sqlite: 60 }

const instance = fc.constantFrom('i1', 'i2')
const binding = fc.constantFrom('b1', 'b2')
const variant = fc.constantFrom('small', 'large')
const fault = fc.constantFrom('ok', 'error', 'lost', 'late', 'refused' as const)
/** Most requests are about one instance and ask for the same thing: else hardly anything would ever be ready. */
const usual = <T>(value: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other })

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('provision'),
      instance: usual('i1', instance),
      variant: usual('small', variant),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('update'), instance: usual('i1', instance), variant }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('deprovision'), instance: usual('i1', instance) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('bind'),
      instance: usual('i1', instance),
      binding,
      variant: usual('small', variant),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('unbind'), instance: usual('i1', instance), binding }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('poll'), index: fc.nat(20) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('advance'),
      ms: fc.integer({ min: 1, max: 120 }).map(seconds => seconds * 1000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('advance'),
      ms: fc.integer({ min: 1, max: 12 }).map(seconds => seconds * 1000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('crash'), points: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('restart') }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('faults'), faults: fc.array(fault, { maxLength: 6 }) }) },
)

describe('the broker against a model of the OSB API', () => {
  it.each(storeKinds)('any requests, faults, crashes and passing of time, on %s', async kind => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 40, size: 'max' }), async commands => {
        const simulation = await createSimulation({ kind })
        try {
          const player = new Player(simulation)
          for (const each of commands) await player.play(each)
          await player.finish()
        } finally {
          await simulation.end()
        }
      }),
      { numRuns: runs[kind] * (long ? 20 : 1) },
    )
  })
})
