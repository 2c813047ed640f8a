import { expect, it } from 'vitest'
import { createLanes } from './lanes.ts'

it('sends one batch at a time until it knows more', () => {
  expect(createLanes().count()).toBe(1)
})

it.each([
  ['one where the server works all the time', { ms: 5, workMs: 5 }, 1],
  ['one where small batches wait a little', { ms: 3, workMs: 0.2 }, 1],
  ['one where the sync takes longer than the work', { ms: 8, workMs: 2 }, 1],
  ['two where a batch waits many times as long as it is worked on', { ms: 10.1, workMs: 2 }, 2],
  ['four where the server is far away', { ms: 30, workMs: 1 }, 4],
])('takes %s', (_, times, expected) => {
  const lanes = createLanes()
  for (let n = 0; n < 200; n += 1) lanes.learn(times)
  expect(lanes.count()).toBe(expected)
})

it('takes no more because this process was busy most of the time', () => {
  const lanes = createLanes()
  for (let n = 0; n < 200; n += 1) lanes.learn({ ms: n % 10 === 0 ? 3 : 30, workMs: 2.5 })
  expect(lanes.count()).toBe(1)
})
