import { describe, expect, it } from 'vitest'
import { BrokerError } from '../protocol/errors.ts'
import { createVirtualClock } from '../testing/virtual-clock.ts'
import { createRefusalPace } from './pace-refusals.ts'

const refusal = new BrokerError('Overloaded', 'Too much.')

/** How many of them are out after each of the times, in milliseconds. */
async function outAfter(count: number, times: readonly number[], errors: readonly unknown[] = [refusal]) {
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

describe('refusals for want of room', () => {
  it('go out at once while there are few', async () => {
    expect(await outAfter(50, [0])).toEqual([50])
  })

  it('go out at a pace where there are many', async () => {
    expect(await outAfter(1050, [0, 1000, 2000])).toEqual([50, 550, 1050])
  })

  it('wait no longer than five seconds', async () => {
    expect(await outAfter(4000, [4990, 5000])).toEqual([2545, 4000])
  })

  it('do not make other errors wait', async () => {
    expect(await outAfter(2000, [0], [new BrokerError('NotFound', 'Nothing.'), new Error('other')])).toEqual([2000])
  })
})
