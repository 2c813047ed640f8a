import { describe, expect, it } from 'vitest'
import { hasRoom, pauseUntilRoom } from './admission.ts'

const fresh = { isNew: true, bodyBytes: 100 }
const poll = { isNew: false, bodyBytes: 0 }
const load = (serving: number, latency = 0, bodyBytes = 0) => ({ serving, latency, bodyBytes })

describe('hasRoom', () => {
  it('takes 1,000 requests for new work, and 2,000 in all', () => {
    expect([hasRoom(load(999), fresh), hasRoom(load(1000), fresh)]).toEqual([true, false])
    expect([hasRoom(load(1999), poll), hasRoom(load(2000), poll)]).toEqual([true, false])
  })

  it('takes fewer at once, the longer they take', () => {
    const mostAt = (latency: number) => {
      let serving = 0
      while (hasRoom(load(serving, latency), fresh)) serving += 1
      return serving
    }
    expect([0, 1_000, 2_000, 10_000].map(mostAt)).toEqual([1000, 1000, 500, 100])
  })

  it('always takes a few: a slow machine is not an overloaded one', () => {
    expect(hasRoom(load(31, 3_600_000), fresh)).toBe(true)
    expect(hasRoom(load(32, 3_600_000), fresh)).toBe(false)
    expect(hasRoom(load(63, 3_600_000), poll)).toBe(true)
  })

  it('holds 128 MB of bodies, and one of any size where there is none', () => {
    const large = { isNew: true, bodyBytes: 64 * 1024 * 1024 }
    expect(hasRoom(load(1, 0, large.bodyBytes), large)).toBe(true)
    expect(hasRoom(load(2, 0, 2 * large.bodyBytes), large)).toBe(false)
    expect(hasRoom(load(2, 0, 2 * large.bodyBytes), poll)).toBe(true)
    expect(hasRoom(load(0), { isNew: true, bodyBytes: 3 * large.bodyBytes })).toBe(true)
  })
})

describe('pauseUntilRoom', () => {
  it('is longer where requests take longer, within bounds', () => {
    expect([0, 100, 5_000, 3_600_000].map(latency => pauseUntilRoom(load(1000, latency)))).toEqual([1, 2, 6, 30])
  })
})
