import { describe, expect, it } from 'vitest'
import type { Service } from '../../src/index.ts'
import { type Answered, numbers, putAll, withStatus } from './bursts.ts'
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

const quickBinds: Partial<Service> = {
  bindable: true,
  bind: async () => ({ credentials: { password: 'p' } }),
  unbind: async () => {},
}

async function bindSome(world: World, process: Process): Promise<void> {
  for (const name of numbers(12)) {
    await process.bind('warm', name)
    await world.clock.advance(seconds(1))
  }
}

async function allSucceed(world: World, process: Process, accepted: readonly Answered[]): Promise<void> {
  await world.clock.advance(seconds(12))
  for (const { id, body } of accepted)
    expect(await process.poll(id, body.operation)).toMatchObject({ state: 'succeeded' })
}

describe('new work that could not begin in time', () => {
  it('is refused with a time, and all that was accepted runs and ends', async () => {
    const world = slowWorld()
    const process = await world.boot({ concurrency: 1 })
    await warmUp(world, process)
    const answers = await putAll(world, process, numbers(20))
    const [accepted, refused] = [withStatus(answers, 202), withStatus(answers, 503)]
    // One more than the slot could begin with at once: it was decided a second later.
    expect([accepted.length, refused.length]).toEqual([5, 15])
    const [late] = refused
    expect(late?.body).toEqual({
      error: 'QueueTooLong',
      description:
        'The provision would wait about 5 seconds in the queue, and may take 6 seconds in all. Repeat it later.',
    })
    expect(Number(late?.retryAfter)).toBeGreaterThanOrEqual(1)
    expect(Number(late?.retryAfter)).toBeLessThanOrEqual(2)
    for (const { id } of refused) expect(await world.ledger.instance(id)).toBeUndefined()
    await allSucceed(world, process, accepted)
    expect(world.runs.sort()).toEqual(['warm', ...accepted.map(({ id }) => id)].sort())
  })

  it('is refused where nothing is known yet of how long things take', async () => {
    const world = slowWorld()
    const process = await world.boot({ concurrency: 1 })
    const answers = await putAll(world, process, numbers(20))
    const [accepted, refused] = [withStatus(answers, 202), withStatus(answers, 503)]
    expect([accepted.length, refused.length]).toEqual([3, 17])
    await allSucceed(world, process, accepted)
  })

  it('is refused though much else was quick before', async () => {
    const world = slowWorld(quickBinds)
    const process = await world.boot({ concurrency: 1 })
    await warmUp(world, process)
    await bindSome(world, process)
    const answers = await putAll(world, process, numbers(20))
    expect([withStatus(answers, 202).length, withStatus(answers, 503).length]).toEqual([5, 15])
    await allSucceed(world, process, withStatus(answers, 202))
  })

  it('is refused though what comes now is quick, where slow work waits', async () => {
    const world = slowWorld({
      ...quickBinds,
      actions: { provision: { timeout: '10m' }, bind: { timeout: '6s' } },
    })
    const process = await world.boot({ concurrency: 1 })
    await warmUp(world, process)
    await bindSome(world, process)
    expect(withStatus(await putAll(world, process, numbers(20)), 202)).toHaveLength(20)
    const bind = process.client.bind('warm', 'late', ids, incomplete)
    await world.clock.advance(seconds(1))
    expect((await bind).status).toBe(503)
  })

  it.each([
    ['on a broker that was just started', false],
    ['where much else was quick', true],
  ])('is refused one by one as well, %s, and all that was accepted ends', async (_, isWarm) => {
    const world = slowWorld(quickBinds)
    const process = await world.boot({ concurrency: 1 })
    if (isWarm) {
      await warmUp(world, process)
      await bindSome(world, process)
    }
    const put = async (id: string) => {
      const { status, body } = await process.client.provision(id, ids, incomplete)
      return { id, status, body } as Answered
    }
    const answers: Promise<Answered>[] = []
    for (const id of numbers(40)) {
      answers.push(put(id))
      await world.clock.advance(300)
    }
    const accepted = withStatus(await Promise.all(answers), 202)
    expect(accepted.length).toBeGreaterThanOrEqual(10)
    expect(accepted.length).toBeLessThanOrEqual(16)
    await allSucceed(world, process, accepted)
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
  it('a burst of what turns out to be quick', async () => {
    const world = slowWorld({ provision: () => takes(world.clock, 10) })
    const process = await world.boot({ concurrency: 1 })
    expect(withStatus(await putAll(world, process, numbers(20)), 202)).toHaveLength(20)
  })

  it('or kept waiting, a burst of what may take long', async () => {
    const world = slowWorld({ actions: { provision: { timeout: '10m' } } })
    const process = await world.boot({ concurrency: 1 })
    const before = world.clock.now()
    for (const id of numbers(20)) await process.provision(id)
    expect(world.clock.now()).toBe(before)
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
    let time = 4000
    const world = slowWorld({ provision: () => takes(world.clock, time) })
    const process = await world.boot({ concurrency: 1 })
    await process.provision('warm')
    await world.clock.advance(seconds(3600))
    time = 10
    expect(withStatus(await putAll(world, process, numbers(20)), 202)).toHaveLength(20)
  })
})
