import { expect, it } from 'vitest'
import type { Operation } from '../domain/operation.ts'
import type { Backlog } from '../reads.ts'
import { createVirtualClock } from '../testing/virtual-clock.ts'
import { Queue } from './queue.ts'

it('counts the time in which a slot stands empty though something waits', async () => {
  const clock = createVirtualClock()
  let due = 0
  const backlog = async () => ({ now: clock.now(), due, dueSince: clock.now() - 5_000, running: 1 })
  const { signal: stopping } = new AbortController()
  const queue = new Queue({ store: { backlog }, clock, concurrency: 1, stopping })
  const enter = async (timeout: number) => {
    const wanted = { operationId: 'next', serviceId: 'service', action: 'provision', timeout } as const
    const next = { id: 'next', notBefore: 0, acceptedAt: 0 } as Operation
    await queue.enter(wanted, async check => check({ answer: undefined, change: { operations: [next] } }))
    due += 1
  }
  for (let entered = 0; entered < 20; entered += 1) await enter(120_000)
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

it('counts what is accepted while the ledger is looked at', async () => {
  const clock = createVirtualClock()
  const looks: ((due: number) => void)[] = []
  const backlog = () =>
    new Promise<Backlog>(resolve => {
      looks.push(due => resolve({ now: clock.now(), due, dueSince: clock.now() - 5_000, running: 1 }))
    })
  const { signal: stopping } = new AbortController()
  const queue = new Queue({ store: { backlog }, clock, concurrency: 1, stopping })
  const enter = (operationId: string, written: Promise<void>) => {
    const wanted = { operationId, serviceId: 'service', action: 'provision', timeout: 6_000 } as const
    const next = { id: operationId, notBefore: 0, acceptedAt: 0 } as Operation
    return queue.enter(wanted, async check => {
      check({ answer: undefined, change: { operations: [next] } })
      await written
    })
  }
  const end = queue.begin({ serviceId: 'service', action: 'provision' })
  await clock.advance(1_000)
  end()
  queue.begin({ serviceId: 'service', action: 'provision' })
  // The first is decided by this look, and written after the next one has begun.
  let write = () => {}
  const first = enter('first', new Promise(resolve => (write = resolve)))
  looks.shift()?.(0)
  await clock.advance(1_000)
  const second = enter('second', Promise.resolve())
  await clock.advance(0)
  write()
  await first
  looks.shift()?.(4)
  await expect(second).rejects.toMatchObject({ code: 'QueueTooLong' })
})
