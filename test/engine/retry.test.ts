import { describe, expect, it } from 'vitest'
import { TerminalError } from '../../src/index.ts'
import { createWorld, minutes, seconds, stopwatch, takes } from './world.ts'

/** A provision with one step that does `attempt` (counted from 1) and a note of when each attempt was made. */
function createStepWorld(attempt: (count: number) => unknown, random: () => number = () => 1) {
  const times: number[] = []
  const world = createWorld({
    random,
    service: {
      async provision(ctx) {
        await ctx.step('create', () => {
          times.push(now())
          return attempt(times.length)
        })
      },
    },
  })
  const now = stopwatch(world.clock)
  return { ...world, times }
}

function fail(error: Error = new Error('not now')): never {
  throw error
}

describe('retries', () => {
  it.each([1, 0.5, 0.01])('back-off doubles up to a minute, with full jitter (random %d)', async random => {
    const world = createStepWorld(
      () => fail(),
      () => random,
    )
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(minutes(6))
    const delays = world.times.slice(1).map((time, index) => time - (world.times[index] ?? 0))
    const ceilings = [1, 2, 4, 8, 16, 32, 60, 60]
    expect(delays.length).toBeGreaterThanOrEqual(ceilings.length)
    expect(delays.slice(0, ceilings.length).map(delay => delay.toFixed(3))).toEqual(
      ceilings.map(ceiling => (ceiling * random).toFixed(3)),
    )
  })

  it('a delay is somewhere below its ceiling, wherever the dice fall', async () => {
    const throws = [0.9, 0, 0.3, 0.999, 0.5, 0.1]
    let index = 0
    const world = createStepWorld(
      count => (count <= throws.length ? fail() : undefined),
      () => throws[index++ % throws.length] ?? 0,
    )
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(minutes(3))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    const delays = world.times.slice(1).map((time, count) => time - (world.times[count] ?? 0))
    delays.forEach((delay, count) => {
      expect(delay).toBeLessThanOrEqual(2 ** count)
    })
  })

  it('Retry-After of an error is honoured, in a step and outside', async () => {
    const asked = () => Object.assign(new Error('busy'), { status: 429, retryAfter: 90 })
    const world = createStepWorld(count => (count === 1 ? fail(asked()) : undefined))
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(minutes(3))
    expect(world.times).toEqual([0, 90])

    const times: number[] = []
    const bare = createWorld({
      service: {
        async provision() {
          times.push(now())
          if (times.length === 1) fail(asked())
        },
      },
    })
    const now = stopwatch(bare.clock)
    const other = await bare.boot()
    await other.provision('i')
    await bare.clock.advance(minutes(3))
    expect(times).toEqual([0, 90])
  })

  it('a budget of attempts survives a restart', async () => {
    let attempts = 0
    const world = createWorld({
      service: {
        async provision(ctx) {
          const create = () => {
            attempts += 1
            fail()
          }
          await ctx.step('create', create, { retry: { attempts: 3, initial: '10s', factor: 1 } })
        },
      },
    })
    const first = await world.boot()
    const operation = await first.provision('i')
    await world.clock.advance(seconds(11))
    expect(attempts).toBe(2)
    first.crash()
    const second = await world.boot()
    await world.clock.advance(minutes(5))
    expect(attempts).toBe(3)
    expect(await second.poll('i', operation)).toEqual({
      state: 'failed',
      description: 'The step "create" gave up after 3 attempts.',
    })
  })

  it('a budget of time is counted from the ledger, not from the start of a process', async () => {
    const world = createWorld({
      service: {
        actions: { provision: { retry: { for: '60s', initial: '10s', factor: 1 } } },
        async provision(ctx) {
          await ctx.step('create', () => fail())
        },
      },
    })
    const now = stopwatch(world.clock)
    const first = await world.boot()
    const operation = await first.provision('i')
    let process = first
    while ((await process.poll('i', operation)).state === 'in progress') {
      process.crash()
      process = await world.boot()
      await world.clock.advance(seconds(5))
      expect(now()).toBeLessThan(120)
    }
    expect(now()).toBeGreaterThanOrEqual(60)
    expect(await process.poll('i', operation)).toMatchObject({
      state: 'failed',
      description: expect.stringContaining('gave up after'),
    })
  })

  it('TerminalError stops at once, with the words of the author', async () => {
    const world = createStepWorld(() => fail(new TerminalError('The quota of your organization is used up.')))
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(minutes(5))
    expect(world.times).toEqual([0])
    expect(await process.poll('i', operation)).toEqual({
      state: 'failed',
      description: 'The quota of your organization is used up.',
    })
  })

  it.each([400, 401, 403, 404, 422])('a %d of the backend is permanent, and its text stays inside', async status => {
    const world = createStepWorld(() => fail(Object.assign(new Error('password=hunter2'), { status })))
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(minutes(5))
    expect(world.times).toEqual([0])
    expect(await process.poll('i', operation)).toEqual({
      state: 'failed',
      description: `The step "create" was refused for good (the answer was ${status}).`,
    })
  })

  it.each([408, 409, 425, 429, 500, 503])('a %d of the backend passes', async statusCode => {
    const world = createStepWorld(count =>
      count === 1 ? fail(Object.assign(new Error('no'), { statusCode })) : undefined,
    )
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(minutes(1))
    expect(world.times).toEqual([0, 1])
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })

  it('a call longer than callTimeout is given up and made again; its signal says so', async () => {
    const signals: AbortSignal[] = []
    const world = createWorld({
      service: {
        callTimeout: '5s',
        async provision(ctx) {
          await ctx.step('create', async ({ signal }) => {
            signals.push(signal)
            if (signals.length === 1) await takes(world.clock, minutes(10))
          })
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(4_900)
    expect(signals.map(signal => signal.aborted)).toEqual([false])
    await world.clock.advance(seconds(2))
    expect(signals.map(signal => signal.aborted)).toEqual([true, false])
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })

  it('a waiting operation holds no worker', async () => {
    let ready = false
    const ran: string[] = []
    const world = createWorld({
      service: {
        async provision(ctx) {
          ran.push(ctx.instance.id)
          if (ctx.instance.id === 'slow' && !ready) return ctx.wait('60s', 'the database is starting')
        },
      },
    })
    const process = await world.boot({ concurrency: 1 })
    const slow = await process.provision('slow')
    await world.clock.advance(seconds(1))
    const quick = await process.provision('quick')
    await world.clock.advance(seconds(1))
    expect(ran).toEqual(['slow', 'quick'])
    expect(await process.poll('quick', quick)).toMatchObject({ state: 'succeeded' })
    expect(await process.poll('slow', slow)).toEqual({ state: 'in progress', description: 'the database is starting' })
    ready = true
    await world.clock.advance(seconds(57))
    expect(ran).toEqual(['slow', 'quick'])
    await world.clock.advance(seconds(2))
    expect(await process.poll('slow', slow)).toMatchObject({ state: 'succeeded' })
  })
})
