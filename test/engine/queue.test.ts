import { describe, expect, it } from 'vitest'
import type { Service } from '../../src/index.ts'
import { numbers, putAll, withStatus } from './bursts.ts'
import { createWorld, ids, incomplete, type Process, seconds, takes, type World } from './world.ts'

/** One worker, provisions of about 1.2 seconds that may take 6 in all. */
function slowWorld(more: Partial<Service> = {}): World & { readonly runs: string[] } {
  const runs: string[] = []
  const world = createWorld({
    service: {
      actions: { provision: { timeout: '6s' } },
      async provision(ctx) {
        runs.push(ctx.instance.id)
        await takes(world.clock, 1190)
      },
      ...more,
    },
  })
  return { ...world, runs }
}

async function warmUp(world: World, process: Process): Promise<void> {
  await process.provision('warm')
  await world.clock.advance(seconds(2))
  expect(await process.poll('warm')).toMatchObject({ state: 'succeeded' })
}

describe('new work that could not begin in time', () => {
  it('is refused with a time, and all that was accepted runs and ends', async () => {
    const world = slowWorld()
    const process = await world.boot({ concurrency: 1 })
    await warmUp(world, process)
    const answers = await putAll(world, process, numbers(20))
    const [accepted, refused] = [withStatus(answers, 202), withStatus(answers, 503)]
    expect([accepted.length, refused.length]).toEqual([4, 16])
    const [late] = refused
    expect(late?.body).toEqual({
      error: 'QueueTooLong',
      description:
        'The provision would wait about 4.8 seconds in the queue, and may take 6 seconds in all. Repeat it later.',
    })
    expect(Number(late?.retryAfter)).toBeGreaterThanOrEqual(1)
    expect(Number(late?.retryAfter)).toBeLessThanOrEqual(2)
    for (const { id } of refused) expect(await world.ledger.instance(id)).toBeUndefined()
    await world.clock.advance(seconds(6))
    for (const { id, body } of accepted)
      expect(await process.poll(id, body.operation)).toMatchObject({ state: 'succeeded' })
    expect(world.runs.sort()).toEqual(['warm', ...accepted.map(({ id }) => id)].sort())
  })

  it('is accepted later', async () => {
    const world = slowWorld()
    const process = await world.boot({ concurrency: 1 })
    await warmUp(world, process)
    const [late] = withStatus(await putAll(world, process, numbers(20)), 503)
    await world.clock.advance(seconds(Number(late?.retryAfter)))
    const operation = await process.provision(late?.id ?? '')
    await world.clock.advance(seconds(6))
    expect(await process.poll(late?.id ?? '', operation)).toMatchObject({ state: 'succeeded' })
  })

  it('is refused while what runs does not come to an end, though nothing has ended before', async () => {
    const world = slowWorld({ provision: () => takes(world.clock, seconds(50)) })
    const process = await world.boot({ concurrency: 1 })
    expect(withStatus(await putAll(world, process, numbers(3)), 202)).toHaveLength(3)
    await world.clock.advance(seconds(2))
    const answers = await putAll(world, process, numbers(3, 4))
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
  })

  it('counts updates and binds as well', async () => {
    const short = { timeout: '3s' } as const
    const world = slowWorld({
      bindable: true,
      actions: { provision: { timeout: '6s' }, update: short, bind: short },
      update: () => takes(world.clock, 1190),
      bind: async () => ({ credentials: { password: 'p' } }),
      unbind: async () => {},
    })
    const process = await world.boot({ concurrency: 1 })
    await warmUp(world, process)
    await putAll(world, process, numbers(20))
    const update = process.client.update('warm', { service_id: ids.service_id, parameters: { a: 1 } }, incomplete)
    const bind = process.client.bind('warm', 'b', ids, incomplete)
    await world.clock.advance(seconds(1))
    expect([(await update).status, (await bind).status]).toEqual([503, 503])
    expect(await world.ledger.binding('warm', 'b')).toBeUndefined()
  })
})

describe('never refused for the queue', () => {
  it('a burst while nothing is known of how long things take', async () => {
    const world = slowWorld()
    const process = await world.boot({ concurrency: 1 })
    expect(withStatus(await putAll(world, process, numbers(20)), 202)).toHaveLength(20)
  })

  it('deletions, and what repeats a request that was accepted', async () => {
    const world = slowWorld({ deprovision: () => takes(world.clock, 1190) })
    const process = await world.boot({ concurrency: 1 })
    await warmUp(world, process)
    const answers = await putAll(world, process, numbers(20))
    const last = withStatus(answers, 202).at(-1)
    const again = await process.client.provision(last?.id ?? '', ids, incomplete)
    expect([again.status, again.body.operation]).toEqual([202, last?.body.operation])
    await process.deprovision('warm')
    await process.deprovision(last?.id ?? '')
  })

  it('what has long enough to wait', async () => {
    const world = slowWorld({ actions: { provision: { timeout: '10m' } } })
    const process = await world.boot({ concurrency: 1 })
    await warmUp(world, process)
    expect(withStatus(await putAll(world, process, numbers(20)), 202)).toHaveLength(20)
  })

  it('a first burst after a long rest: what was slow may be quick now', async () => {
    const world = slowWorld()
    const process = await world.boot({ concurrency: 1 })
    await warmUp(world, process)
    await world.clock.advance(seconds(3600))
    expect(withStatus(await putAll(world, process, numbers(20)), 202)).toHaveLength(20)
  })
})
