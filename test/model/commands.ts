import fc from 'fast-check'
import type { Fault } from './backend.ts'
import type { Command } from './player.ts'

const oneOf = <T>(...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

/** Most requests are about one instance and ask for the same thing: else hardly anything would ever be ready. */
const instance = oneOf([4, fc.constant('i1')], [1, fc.constant('i2')])
const binding = oneOf([3, fc.constant('b1')], [1, fc.constant('b2')])
const variant = oneOf([4, fc.constant('small')], [1, fc.constant('large')])
const fault: fc.Arbitrary<Fault> = fc.constantFrom('ok', 'ok', 'late', 'late', 'lost', 'error', 'refused')

const provision: fc.Arbitrary<Command> = fc.record({ type: fc.constant('provision' as const), instance, variant })
const update: fc.Arbitrary<Command> = fc.record({ type: fc.constant('update' as const), instance, variant })
const deprovision: fc.Arbitrary<Command> = fc.record({ type: fc.constant('deprovision' as const), instance })
const bind: fc.Arbitrary<Command> = fc.record({ type: fc.constant('bind' as const), instance, binding, variant })
const unbind: fc.Arbitrary<Command> = fc.record({ type: fc.constant('unbind' as const), instance, binding })
const request = oneOf([4, provision], [2, update], [3, deprovision], [4, bind], [2, unbind])

const seconds = (min: number, max: number): fc.Arbitrary<Command> =>
  fc.record({ type: fc.constant('advance' as const), ms: fc.integer({ min, max }).map(count => count * 1000) })
const faults: fc.Arbitrary<Command> = fc.record({
  type: fc.constant('faults' as const),
  faults: fc.array(fault, { minLength: 1, maxLength: 4, size: 'max' }),
})
const crash: fc.Arbitrary<Command> = fc.record({
  type: fc.constant('crash' as const),
  points: fc.integer({ min: 1, max: 24 }),
})
const restart: fc.Arbitrary<Command> = fc.constant({ type: 'restart' })
const poll: fc.Arbitrary<Command> = fc.record({ type: fc.constant('poll' as const), index: fc.nat(20) })

const hold: fc.Arbitrary<Command> = fc.record({
  type: fc.constant('hold' as const),
  verb: fc.constantFrom('hold' as const, 'release' as const),
  index: fc.nat(20),
})

const single = oneOf(
  [6, request],
  [2, seconds(1, 12)],
  [1, seconds(12, 120)],
  [1, crash],
  [1, restart],
  [2, poll],
  [1, hold],
)

/** Chains that a single command hardly ever begins: something ready, and something caught in the middle. */
const story = fc.oneof(
  fc.tuple(provision, seconds(7, 9)),
  fc.tuple(provision, seconds(7, 9), bind, seconds(1, 5)),
  fc.tuple(faults, request, seconds(1, 14), request, seconds(1, 30)),
  fc.tuple(faults, request, seconds(10, 30), deprovision, seconds(5, 30)),
  fc.tuple(provision, seconds(7, 9), bind, seconds(3, 5), faults, unbind, seconds(5, 20), deprovision, seconds(5, 90)),
  fc.tuple(faults, request, seconds(1, 5), hold, seconds(1, 30), request, hold, seconds(1, 30)),
  fc.tuple(crash, request, seconds(1, 14), request, seconds(1, 60)),
  fc.tuple(faults, provision, seconds(1, 9), deprovision, seconds(5, 20), provision, seconds(1, 90), request),
  fc.tuple(bind, seconds(3, 5), faults, unbind, seconds(5, 20), bind, seconds(1, 90), request),
)

/** A list of chains is shrunk by leaving out whole ones first, then by making each simpler. */
export const commands: fc.Arbitrary<readonly Command[]> = fc
  .array(oneOf<readonly Command[]>([3, single.map(command => [command])], [2, story]), {
    minLength: 1,
    maxLength: 20,
    size: 'max',
  })
  .map(chains => chains.flat())
