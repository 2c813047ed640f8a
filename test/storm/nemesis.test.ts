import { describe, expect, it } from 'vitest'
import { planBlows } from './nemesis.ts'
import { createRandom } from './random.ts'

const plan = (seed: string) => planBlows(createRandom(seed), 120_000, 3_000)

describe('a storm', () => {
  it('is planned by its seed alone', () => {
    expect(plan('one')).toEqual(plan('one'))
    expect(plan('one')).not.toEqual(plan('two'))
  })

  it('brings every kind of fault, and some that last longer than a lease', () => {
    const blows = plan('one')
    const kinds = ['crash database', 'cut', 'freeze', 'kill', 'pause', 'stop', 'terminate']
    expect([...new Set(blows.map(({ fault }) => fault))].toSorted()).toEqual(kinds)
    expect(blows.some(({ fault, forMs }) => fault === 'pause' && forMs > 3_000)).toBe(true)
  })

  it('draws from sources that do not disturb each other', () => {
    const [one, other] = [createRandom('seed'), createRandom('seed')]
    one.next()
    expect(one.fork('actor').next()).toBe(other.fork('actor').next())
    expect(one.fork('actor').next()).not.toBe(one.fork('another').next())
  })
})
