import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lateBy, type QueueLoad, timeToBegin } from './queue-time.ts'

const just = { age: 0, usual: 1200 }
const one: QueueLoad = { ahead: 0, turn: 1200, slots: 1, allSlots: 1, running: [just], still: 0 }
const four: QueueLoad = { ...one, slots: 4, allSlots: 4, running: [just, just, just, just] }

describe('the time until an operation begins', () => {
  it('is none where a slot is free', () => {
    expect(timeToBegin({ ...one, running: [] })).toBe(0)
    const two = { ...four, running: [just, just], still: 500 }
    expect(timeToBegin({ ...two, ahead: 1 })).toBe(0)
    expect(timeToBegin({ ...two, ahead: 2 })).toBeGreaterThan(0)
  })

  it('is not known to a process that runs nothing itself', () => {
    expect(timeToBegin({ ...one, slots: 0, allSlots: 16, running: [], ahead: 100 })).toBe(0)
  })

  it('is as many turns of a slot as operations come first, and the one that runs', () => {
    expect(timeToBegin(one)).toBe(1200)
    expect(timeToBegin({ ...one, running: [{ ...just, age: 1000 }], ahead: 4 })).toBe(5000)
    expect(timeToBegin({ ...four, ahead: 7 })).toBe(2400)
    expect(timeToBegin({ ...four, ahead: 8 })).toBe(3600)
  })

  it('counts what runs by its own kind, and what waits by its own', () => {
    expect(timeToBegin({ ...one, running: [{ age: 0, usual: 10 }], ahead: 4 })).toBe(4810)
    const slow = { age: 0, usual: 600_000 }
    const mixed = { ...four, running: [slow, slow, slow, { age: 0, usual: 100 }], turn: 100 }
    expect(timeToBegin({ ...mixed, ahead: 19 })).toBe(2000)
  })

  it('is shorter with the slots of other replicas', () => {
    expect(timeToBegin({ ...one, ahead: 4 })).toBe(6000)
    expect(timeToBegin({ ...one, ahead: 4, allSlots: 3 })).toBe(2400)
  })

  it('grows while nothing ends', () => {
    expect(timeToBegin({ ...one, running: [{ age: 60_000, usual: 1200 }] })).toBe(58_800)
    const hangs = { age: 3_600_000, usual: 1200 }
    expect(timeToBegin({ ...four, running: [hangs, just, just, just], ahead: 8 })).toBe(3600)
  })

  it('is two seconds where nothing of the kind has ended, and more while it runs', () => {
    expect(timeToBegin({ ...one, running: [{ age: 0, usual: undefined }] })).toBe(2000)
    expect(timeToBegin({ ...one, running: [{ age: 1500, usual: undefined }] })).toBe(1500)
    expect(timeToBegin({ ...one, running: [{ age: 9000, usual: undefined }] })).toBe(9000)
  })

  it('grows while slots are free and nothing begins', () => {
    const heldUp = { ...four, turn: 10, running: [], ahead: 11 }
    expect(timeToBegin(heldUp)).toBe(20)
    expect(timeToBegin({ ...heldUp, still: 2000 })).toBe(6000)
  })

  it('is late where those like it could not end any more', () => {
    expect(lateBy({ ...one, ahead: 2 }, { limit: 6000, run: 1200 })).toBe(0)
    expect(lateBy({ ...one, ahead: 3 }, { limit: 6000, run: 1200 })).toBe(960)
    expect(lateBy({ ...one, ahead: 3 }, { limit: 6000, run: 9000 })).toBe(0)
  })
})

const loads = fc
  .record({
    ahead: fc.nat(10_000),
    turn: fc.double({ min: 0, max: 600_000, noNaN: true }),
    slots: fc.integer({ min: 1, max: 64 }),
    others: fc.nat(64),
    running: fc.array(fc.record({ age: fc.nat(7_200_000), usual: fc.option(fc.nat(600_000), { nil: undefined }) }), {
      maxLength: 64,
    }),
    still: fc.nat(60_000),
  })
  .map(({ others, running, ...load }): QueueLoad => {
    const allSlots = load.slots + others
    return { ...load, allSlots, running: running.slice(0, load.slots) }
  })

describe('whatever the load', () => {
  const check = (property: (load: QueueLoad) => void) => fc.assert(fc.property(loads, property))

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
