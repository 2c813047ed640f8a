import { describe, expect, it } from 'vitest'
import { sleep } from '../clock.ts'
import { createVirtualClock } from './virtual-clock.ts'

describe('the virtual clock', () => {
  it('stands still by itself', async () => {
    const clock = createVirtualClock(1000)
    let called = false
    clock.after(0, () => {
      called = true
    })
    await new Promise(resolve => setImmediate(resolve))
    expect([clock.now(), called, clock.pending()]).toEqual([1000, false, 1])
  })

  it('calls what is due in the order of its time, each at its own time', async () => {
    const clock = createVirtualClock(0)
    const calls: [string, number][] = []
    for (const [name, ms] of [
      ['late', 30],
      ['first', 10],
      ['second', 10],
      ['beyond', 51],
    ] as const) {
      clock.after(ms, () => calls.push([name, clock.now()]))
    }
    await clock.advance(50)
    expect(calls).toEqual([
      ['first', 10],
      ['second', 10],
      ['late', 30],
    ])
    expect([clock.now(), clock.pending()]).toEqual([50, 1])
  })

  it('also calls what a callback, or what awaited one, sets within the time', async () => {
    const clock = createVirtualClock(0)
    const woken: number[] = []
    const sleeper = (async () => {
      for (let round = 0; round < 5; round += 1) {
        await sleep(clock, 10)
        await new Promise(resolve => setImmediate(resolve))
        woken.push(clock.now())
      }
    })()
    await clock.advance(50)
    await sleeper
    expect(woken).toEqual([10, 20, 30, 40, 50])
  })

  it('does not call what was cancelled', async () => {
    const clock = createVirtualClock()
    let called = false
    const cancel = clock.after(5, () => {
      called = true
    })
    cancel()
    await clock.advance(10)
    expect([called, clock.pending()]).toEqual([false, 0])
  })
})
