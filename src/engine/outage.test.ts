import { expect, it } from 'vitest'
import { createVirtualClock } from '../testing/virtual-clock.ts'
import { createOutage } from './outage.ts'

it('is told once, also where a call that was sent into it ends after it', async () => {
  const clock = createVirtualClock()
  const told: string[] = []
  const outage = createOutage(
    'store',
    {
      'store.unavailable': () => told.push('does not answer'),
      'store.available': ({ outageMs }) => told.push(`answers after ${outageMs}`),
    },
    clock,
  )
  const gone = new Error('gone')
  const sentAt = clock.now()
  await clock.advance(1_000)
  outage.begin('claim', gone, sentAt)
  await clock.advance(5_000)
  outage.end('claim')
  outage.begin('chores', gone, sentAt)
  expect(told).toEqual(['does not answer', 'answers after 5000'])
  // One that was sent since is another one.
  await clock.advance(1_000)
  outage.begin('chores', gone, clock.now())
  outage.begin('claim', gone, sentAt)
  outage.end('chores')
  expect(told.slice(2)).toEqual(['does not answer'])
  outage.end('claim')
  expect(told.slice(2)).toEqual(['does not answer', 'answers after 0'])
})
