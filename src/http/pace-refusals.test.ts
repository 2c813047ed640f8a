import { describe, expect, it } from 'vitest'
import { BrokerError } from '../protocol/errors.ts'
import { createVirtualClock } from '../testing/virtual-clock.ts'
import { createRefusalPace } from './pace-refusals.ts'

/** How many of them are out after each of the times, in milliseconds. */
async function outAfter(count: number, times: readonly number[], ...errors: readonly unknown[]) {
  const clock = createVirtualClock()
  const pace = createRefusalPace(clock)
  let out = 0
  for (let index = 0; index < count; index += 1)
    void Promise.resolve(pace(errors[index % errors.length])).then(() => {
      out += 1
    })
  const seen: number[] = []
  for (const [index, time] of times.entries()) {
    await clock.advance(time - (times[index - 1] ?? 0))
    seen.push(out)
  }
  return seen
}

describe.each(['Overloaded', 'QueueTooLong', 'TooManyLogins', 'TooManyRequests'] as const)('refusals: %s', code => {
  const refusal = new BrokerError(code, 'Too much.')

  it('go out at once while there are few', async () => {
    expect(await outAfter(50, [0], refusal)).toEqual([50])
  })

  it('go out at a pace where there are many', async () => {
    expect(await outAfter(450, [0, 1000, 2000], refusal)).toEqual([50, 250, 450])
  })

  it('wait no longer than five seconds', async () => {
    expect(await outAfter(4000, [4990, 5000], refusal)).toEqual([1048, 4000])
  })
})

it('other errors do not wait', async () => {
  expect(await outAfter(2000, [0], new BrokerError('NotFound', 'Nothing.'), new Error('other'))).toEqual([2000])
})

it('a flood of logins does not delay what is refused for want of room', async () => {
  const [login, full] = [new BrokerError('TooManyLogins', 'Too many.'), new BrokerError('Overloaded', 'Too much.')]
  expect(await outAfter(1000, [0], ...Array.from({ length: 19 }, () => login), full)).toEqual([100])
})
