import { expect, it } from 'vitest'
import type { Operation } from '../domain/operation.ts'
import { createVirtualClock } from '../testing/virtual-clock.ts'
import { Queue } from './queue.ts'

it('counts the time in which a slot stands empty though something waits', async () => {
  const clock = createVirtualClock()
  let due = 0
  const backlog = async () => ({ now: clock.now(), due, dueSince: clock.now() - 5_000, running: 1 })
  const { signal: stopping } = new AbortController()
  const queue = new Queue({ store: { backlog }, clock, concurrency: 1, pollInterval: 1_000, stopping })
  const enter = async (timeout: number) => {
    const wanted = { operationId: 'next', serviceId: 'service', action: 'provision', timeout } as const
    const next = { id: 'next', notBefore: 0, acceptedAt: 0 } as Operation
    await queue.enter(wanted, async check => check({ answer: undefined, change: { operations: [next] } }))
    due += 1
  }
  for (let entered = 0; entered < 20; entered += 1) await enter(10_000)
  // Each takes 100 ms, and the process gets round to the next one a second later.
  for (let ran = 0; ran < 10; ran += 1) {
    const end = queue.begin({ serviceId: 'service', action: 'provision' })
    due -= 1
    await clock.advance(100)
    end()
    await clock.advance(1_000)
  }
  queue.begin({ serviceId: 'service', action: 'provision' })
  await clock.advance(1)
  await expect(enter(6_000)).rejects.toMatchObject({ code: 'QueueTooLong' })
  await enter(60_000)
})
