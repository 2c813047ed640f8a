import { expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/index.ts'
import { createVirtualClock } from '../testing/virtual-clock.ts'
import { createReadiness } from './readiness.ts'

it('answers in time for a store that does not, and asks it once', async () => {
  const clock = createVirtualClock()
  let pings = 0
  let answer: () => void = () => {}
  const ping = () => {
    pings += 1
    return new Promise<void>(resolve => {
      answer = resolve
    })
  }
  const readiness = createReadiness({ ...createMemoryStore({ clock }), ping }, clock)
  const asked = [readiness(), readiness()]
  await clock.advance(500)
  asked.push(readiness())
  await clock.advance(900)
  const late = 'the store memory: does not answer within 900 milliseconds'
  expect(await Promise.all(asked)).toEqual([late, late, late])
  expect(pings).toBe(1)

  const again = readiness()
  answer()
  expect(await again).toBeUndefined()
  expect(clock.pending()).toBe(0)
  void readiness()
  expect(pings).toBe(2)
})

it('says no more of a failure than the name of the store', async () => {
  const clock = createVirtualClock()
  const ping = () => Promise.reject(new Error('password authentication failed: hunter2'))
  const readiness = createReadiness({ ...createMemoryStore({ clock }), ping }, clock)
  expect(await readiness()).toBe('the store memory: does not answer')
})
