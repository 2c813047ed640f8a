import { describe, expect, it } from 'vitest'
import type { Service } from '../../src/index.ts'
import { createWorld, minutes, seconds, stopwatch, takes } from './world.ts'

const plans: Service['plans'] = [{ id: 'plan', name: 'plan', description: 'Short', maximumPollingDuration: 600 }]
const forever = () => new Promise<never>(() => {})

describe('deadlines', () => {
  it('an operation ends before the platform stops polling, and says what was going on', async () => {
    const world = createWorld({
      service: {
        plans,
        async provision(ctx) {
          return ctx.wait('30s', 'waiting for the moon')
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(minutes(9) - 1)
    expect(await process.poll('i', operation)).toMatchObject({ state: 'in progress' })
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', operation)).toEqual({
      state: 'failed',
      description: 'The provision did not end within 9 minutes. Last: waiting for the moon.',
    })
  })

  it('a short limit is said in the unit that fits', async () => {
    const world = createWorld({
      service: { actions: { provision: { timeout: '6s' } }, provision: async ctx => ctx.wait('2s', 'counting stars') },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(7))
    expect(await process.poll('i', operation)).toEqual({
      state: 'failed',
      description: 'The provision did not end within 6 seconds. Last: counting stars.',
    })
  })

  it('an operation that failed without ever having run says so', async () => {
    const runs: string[] = []
    const world = createWorld({
      service: {
        actions: { provision: { timeout: '6s' } },
        async provision(ctx) {
          runs.push(ctx.instance.id)
        },
        deprovision: () => takes(world.clock, seconds(91)),
      },
    })
    const process = await world.boot({ concurrency: 1 })
    await process.provision('other')
    await world.clock.advance(seconds(1))
    await process.deprovision('other')
    await world.clock.advance(seconds(1))
    const operation = await process.provision('i')
    await world.clock.advance(seconds(95))
    expect(await process.poll('i', operation)).toEqual({
      state: 'failed',
      description:
        'The provision never ran: it waited 1 minute 30 seconds in the queue, and may take 6 seconds in all.',
    })
    expect(runs).toEqual(['other'])
  })

  it('an action that ignores its signal and never returns still ends by the deadline', async () => {
    let signal: AbortSignal | undefined
    const world = createWorld({
      service: {
        plans,
        async provision(ctx) {
          signal = ctx.signal
          ctx.describe('thinking')
          await forever()
        },
      },
    })
    const process = await world.boot({ concurrency: 1 })
    const operation = await process.provision('i')
    await world.clock.advance(minutes(9) - 1)
    expect(await process.poll('i', operation)).toEqual({ state: 'in progress', description: 'thinking' })
    expect(signal?.aborted).toBe(false)
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', operation)).toEqual({
      state: 'failed',
      description: 'The provision did not end within 9 minutes. Last: thinking.',
    })
    expect(signal?.aborted).toBe(true)
    // The worker that it held is free again.
    const deletion = await process.deprovision('i')
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
  })

  it('an error hook that never returns does not keep a failed operation from ending', async () => {
    const world = createWorld({
      hooks: [{ name: 'pager', error: forever }],
      service: {
        plans,
        async provision() {
          throw Object.assign(new Error('no'), { status: 400 })
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(minutes(1))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'failed' })
  })

  it('the deadline holds for a parked operation whose time comes while no process runs', async () => {
    let runs = 0
    const world = createWorld({
      service: {
        plans,
        async provision(ctx) {
          runs += 1
          return ctx.wait('5m', 'asleep')
        },
      },
    })
    const first = await world.boot()
    const operation = await first.provision('i')
    await world.clock.advance(seconds(1))
    first.crash()
    await world.clock.advance(minutes(60))
    const second = await world.boot()
    await world.clock.advance(seconds(1))
    expect(await second.poll('i', operation)).toMatchObject({ state: 'failed' })
    expect(runs).toBe(1)
  })

  it('an operation that keeps killing its workers is put aside for ten minutes, then tried again', async () => {
    const runs: number[] = []
    const world = createWorld({
      service: {
        async provision() {
          runs.push(now())
          await forever()
        },
      },
    })
    const now = stopwatch(world.clock)
    let process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    for (let losses = 1; losses <= 11; losses += 1) {
      expect(runs).toHaveLength(losses)
      process.crash()
      process = await world.boot()
      await world.clock.advance(seconds(31))
    }
    expect(runs).toHaveLength(11)
    expect(await process.poll('i', operation)).toEqual({
      state: 'in progress',
      description: 'put aside after repeated crashes',
    })
    await world.clock.advance(minutes(9))
    expect(runs).toHaveLength(11)
    await world.clock.advance(minutes(1))
    expect(runs).toHaveLength(12)
  })

  it('a checkpoint in between shows that the operation is not the killer', async () => {
    let runs = 0
    const world = createWorld({
      service: {
        async provision(ctx) {
          runs += 1
          await ctx.step(`part ${runs}`, () => {})
          if (runs <= 14) await forever()
        },
      },
    })
    let process = await world.boot()
    const operation = await process.provision('i')
    for (let losses = 1; losses <= 14; losses += 1) {
      await world.clock.advance(seconds(1))
      process.crash()
      process = await world.boot()
      await world.clock.advance(seconds(31))
    }
    expect(runs).toBe(15)
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })

  it('an operation that kills its workers until its deadline fails then, not ten minutes later', async () => {
    const world = createWorld({
      service: {
        plans,
        async provision() {
          await forever()
        },
      },
    })
    let process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    for (let losses = 1; losses <= 12; losses += 1) {
      process.crash()
      process = await world.boot()
      await world.clock.advance(seconds(31))
    }
    await world.clock.advance(minutes(9) - seconds(12 * 31))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'failed' })
  })
})
