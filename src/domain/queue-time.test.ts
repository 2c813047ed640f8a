import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lateBy, type QueueLoad, timeToBegin } from './queue-time.ts'

const one: QueueLoad = { ahead: 0, slots: 1, allSlots: 1, ages: [0], usual: 1200, still: 0 }

describe('the time until an operation begins', () => {
  it('is none where a slot is free', () => {
    expect(timeToBegin({ ...one, ages: [] })).toBe(0)
    expect(timeToBegin({ ...one, slots: 4, allSlots: 4, ages: [1, 1], ahead: 1 })).toBe(0)
    expect(timeToBegin({ ...one, slots: 4, allSlots: 4, ages: [1, 1], ahead: 2 })).toBeGreaterThan(0)
  })

  it('is not known while nothing has ended and nothing has run for long', () => {
    expect(timeToBegin({ ...one, usual: undefined, ahead: 100 })).toBe(0)
    expect(timeToBegin({ ...one, usual: undefined, slots: 2, allSlots: 2, ahead: 100 })).toBe(0)
  })

  it('is not known to a process that runs nothing itself', () => {
    expect(timeToBegin({ ...one, slots: 0, allSlots: 16, ages: [], ahead: 100 })).toBe(0)
  })

  it('is as many turns of a slot as operations come first, and the one that runs', () => {
    expect(timeToBegin(one)).toBe(1200)
    expect(timeToBegin({ ...one, ahead: 4 })).toBe(6000)
    expect(timeToBegin({ ...one, slots: 4, allSlots: 4, ages: [0, 0, 0, 0], ahead: 7 })).toBe(2400)
  })

  it('is shorter with the slots of other replicas', () => {
    expect(timeToBegin({ ...one, ahead: 4, allSlots: 3 })).toBe(2000)
  })

  it('grows while nothing ends', () => {
    expect(timeToBegin({ ...one, ages: [60_000] })).toBe(60_000)
    const hour = 3_600_000
    const oneHangs = timeToBegin({ ...one, slots: 10, allSlots: 10, ages: [hour, ...Array(9).fill(0)], ahead: 8 })
    expect(oneHangs).toBeCloseTo(1200, -1)
  })

  it('grows while slots are free and nothing begins', () => {
    const heldUp = { ...one, usual: undefined, slots: 4, allSlots: 4, ages: [], ahead: 11 }
    expect(timeToBegin(heldUp)).toBe(0)
    expect(timeToBegin({ ...heldUp, still: 2000 })).toBe(6000)
  })

  it('is late where those like it could not end any more', () => {
    expect(lateBy({ ...one, ahead: 2 }, { limit: 6000, run: 1200 })).toBe(0)
    expect(lateBy({ ...one, ahead: 3 }, { limit: 6000, run: 1200 })).toBe(960)
    expect(lateBy({ ...one, ahead: 3 }, { limit: 6000, run: 9000 })).toBe(0)
  })
})

const loads = fc.record({
  ahead: fc.nat(10_000),
  slots: fc.integer({ min: 1, max: 64 }),
  others: fc.nat(64),
  ages: fc.array(fc.nat(7_200_000), { maxLength: 64 }),
  still: fc.nat(60_000),
  usual: fc.option(fc.nat(600_000), { nil: undefined }),
})
const toLoad = ({
  others,
  ages,
  ...load
}: typeof loads extends fc.Arbitrary<infer Load> ? Load : never): QueueLoad => ({
  ...load,
  ages: ages.slice(0, load.slots),
  allSlots: load.slots + others,
})

describe('whatever the load', () => {
  const check = (property: (load: QueueLoad) => void) => fc.assert(fc.property(loads.map(toLoad), property))

  it('the time is a number, and never negative', () =>
    check(load => {
      expect(timeToBegin(load)).toBeGreaterThanOrEqual(0)
      expect(timeToBegin(load)).toBeLessThan(Number.POSITIVE_INFINITY)
    }))

  it('a longer queue never begins earlier, and another replica never makes it later', () =>
    check(load => {
      const wait = timeToBegin(load)
      expect(timeToBegin({ ...load, ahead: load.ahead + 1 })).toBeGreaterThanOrEqual(wait)
      expect(timeToBegin({ ...load, allSlots: load.allSlots + 1 })).toBeLessThanOrEqual(wait)
    }))

  it('it is late by exactly so much that there is room when that has passed', () =>
    check(load => {
      const timing = { limit: 30_000, run: 1000 }
      const late = lateBy(load, timing)
      if (late > 0) expect(timeToBegin(load) - late).toBeCloseTo((timing.limit - timing.run) * 0.8, 3)
    }))
})
