import { describe, expect, it } from 'vitest'
import { createServerClock } from './server-clock.ts'

describe('the database’s clock, as this process knows it', () => {
  it('is not known before an answer', () => {
    expect(createServerClock(at(() => 5)).now()).toBeUndefined()
  })

  it('goes on from the latest answer, whatever time it is here', () => {
    let here = 7_000
    const clock = createServerClock(at(() => here))
    clock.learn(1_000)
    expect(clock.now()).toBe(1_000)
    here += 500
    expect(clock.now()).toBe(1_499)
    clock.learn(90_000)
    expect(clock.now()).toBe(90_000)
  })

  it('is never later than the database’s: an answer takes time, and milliseconds are cut off', () => {
    for (const [there, onItsWay, passed] of [
      [10.0, 0, 0.2],
      [10.9, 0, 0.2],
      [10.5, 0.3, 0.4],
      [10.2, 3, 1.5],
      [10.9, 0.9, 7],
    ] as const)
      for (const ahead of [0, 0.4, 0.99, 3_000.7]) {
        let now = there
        const clock = createServerClock(at(() => Math.floor(now + ahead)))
        now += onItsWay
        clock.learn(Math.floor(there))
        now += passed
        expect(clock.now()).toBeLessThanOrEqual(Math.floor(now))
      }
  })

  it('does not go back when the clock here does', () => {
    let here = 7_000
    const clock = createServerClock(at(() => here))
    clock.learn(1_000)
    here = 0
    expect(clock.now()).toBe(1_000)
  })
})

function at(now: () => number) {
  return { now, after: () => () => {} }
}
