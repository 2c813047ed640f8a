import { describe, expect, it } from 'vitest'
import { fairRoom } from './fair-share.ts'

/** Takes places one after the other, for as long as there is room. */
function fill(places: number, others = 0): number {
  let taken = 0
  while (fairRoom(taken, places - others - taken) > 0) taken += 1
  return taken
}

describe('the share of a service that takes all it can', () => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 3],
    [16, 12],
    [100, 75],
  ])('of %i places: %i', (places, share) => expect(fill(places)).toBe(share))

  it('leaves room for a second one, and for a third after that', () => {
    const first = fill(16)
    const second = fill(16, first)
    const third = fill(16, first + second)
    expect([first, second, third]).toEqual([12, 3, 1])
  })

  it('is the same where many places are taken at once', () => {
    for (let places = 1; places <= 40; places += 1)
      for (let taken = 0; taken <= places; taken += 1) {
        let one = 0
        while (fairRoom(taken + one, places - taken - one) > 0) one += 1
        expect(fairRoom(taken, places - taken), `${taken} of ${places}`).toBe(one)
      }
  })
})
