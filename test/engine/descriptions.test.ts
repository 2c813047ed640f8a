import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { type Service, TerminalError } from '../../src/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { createWorld, minutes, seconds, takes } from './world.ts'

const forever = () => new Promise<never>(() => {})

describe('a poll in progress always says something', () => {
  it('while the operation waits in the queue, while it runs, and when it waits to go on', async () => {
    const world = createWorld({ service: { provision: forever } })
    const process = await world.boot({ concurrency: 1 })
    const running = await process.provision('first')
    await world.clock.advance(seconds(1))
    const queued = await process.provision('second')
    expect(await process.poll('first', running)).toEqual({
      state: 'in progress',
      description: 'the provision is running',
    })
    expect(await process.poll('second', queued)).toEqual({ state: 'in progress', description: 'waiting for its turn' })
    const stopped = process.stop()
    await world.clock.advance(minutes(2))
    await stopped
    const other = await world.boot({ concurrency: 1 })
    const polled = [await other.poll('first', running), await other.poll('second', queued)]
    expect(polled.map(({ state }) => state)).toEqual(['in progress', 'in progress'])
    for (const { description } of polled)
      expect(['the provision is running', 'waiting for its turn', 'the provision waits to go on']).toContain(
        description,
      )
  })

  it('while a deletion waits for what it takes over from', async () => {
    const world = createWorld({ service: { provision: forever } })
    const doomed = await world.boot()
    await doomed.provision('i')
    await world.clock.advance(seconds(1))
    doomed.crash()
    const process = await world.boot()
    const deletion = await process.deprovision('i')
    expect(await process.poll('i', deletion)).toEqual({
      state: 'in progress',
      description: 'waiting until what it takes over from has stopped',
    })
    await world.clock.advance(minutes(1))
    expect(await process.poll('i', deletion)).toEqual({ state: 'succeeded' })
  })
})

describe('a platform reads why something is tried again, and nothing that the log alone may have', () => {
  const refused = () => Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' })
  const cases: readonly (readonly [what: string, make: () => Error, reason: string])[] = [
    ['an answer', () => Object.assign(new Error('<html>db7.internal'), { status: 503 }), ' (the answer was 503)'],
    ['a refused connection', refused, ' (the connection was refused)'],
    ['a cause', () => new TypeError('fetch failed', { cause: refused() }), ' (the connection was refused)'],
    ['a name', () => Object.assign(new Error('db7'), { code: 'ENOTFOUND' }), ' (a name has no address)'],
    ['a timeout', () => new DOMException('db7 was slow', 'TimeoutError'), ' (no answer in time)'],
    ['an exit code', () => Object.assign(new Error('/opt/tool failed'), { status: 1 }), ''],
    ['anything else', () => new Error('cannot write /var/lib/db7'), ''],
  ]

  it.each(cases)('%s of a step', async (_, make, reason) => {
    const world = createWorld({
      service: {
        async provision(ctx) {
          await ctx.step('create', () => Promise.reject(make()), { retry: { attempts: 2, initial: '10s' } })
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', operation)).toEqual({
      state: 'in progress',
      description: `the step "create" failed 1 time${reason}, trying again`,
    })
    await world.clock.advance(minutes(1))
    expect(await process.poll('i', operation)).toEqual({
      state: 'failed',
      description: `The step "create" gave up after 2 attempts${reason}.`,
    })
  })

  it.each(cases)('%s of an action', async (_, make, reason) => {
    const world = createWorld({
      service: {
        actions: { provision: { retry: { attempts: 2, initial: '10s' } } },
        provision: () => Promise.reject(make()),
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', operation)).toEqual({
      state: 'in progress',
      description: `the provision failed 1 time${reason}, trying again`,
    })
    await world.clock.advance(minutes(1))
    expect(await process.poll('i', operation)).toEqual({
      state: 'failed',
      description: `The provision failed for good${reason}.`,
    })
  })

  it('a call that takes too long', async () => {
    const world = createWorld({
      service: {
        async provision(ctx) {
          await ctx.step('create', forever, { timeout: '6s' })
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(7))
    expect(await process.poll('i', operation)).toMatchObject({
      description: 'the step "create" failed 1 time (no answer within 6 seconds), trying again',
    })
  })
})

describe('an operation that has ended', () => {
  const described = (clock: Clock, result: object | undefined): Partial<Service> => {
    const act: Service['provision'] = async ctx => {
      ctx.describe(`at work on the ${ctx.action}`)
      await ctx.step('work', () => takes(clock, seconds(1)))
      return result
    }
    return { update: act, provision: act, deprovision: act as Service['deprovision'], planUpdateable: true }
  }
  it.each([
    ['does not keep what it said on its way', undefined, undefined],
    ['keeps what its author said at its end', { message: 'Ready: see the dashboard.' }, 'Ready: see the dashboard.'],
  ])('%s', async (_, result, description) => {
    const clock = createVirtualClock()
    const world = createWorld({
      clock,
      service: {
        ...described(clock, result),
        bind: async ctx => {
          ctx.describe('binding')
          return { credentials: {}, ...result }
        },
        unbind: async ctx => {
          ctx.describe('unbinding')
          return { ...result }
        },
      },
    })
    const process = await world.boot()
    const ended = { state: 'succeeded', ...(description && { description }) }
    const provisioned = await process.provision('i')
    await world.clock.advance(500)
    expect(await process.poll('i', provisioned)).toEqual({
      state: 'in progress',
      description: 'at work on the provision',
    })
    await world.clock.advance(seconds(2))
    expect(await process.poll('i', provisioned)).toEqual(ended)
    const updated = await process.update('i', { size: 'large' })
    await world.clock.advance(seconds(2))
    expect(await process.poll('i', updated)).toEqual(ended)
    const bound = await process.bind('i', 'b')
    await world.clock.advance(seconds(2))
    expect(await process.pollBinding('i', 'b', bound)).toEqual(ended)
    const unbound = await process.unbind('i', 'b')
    await world.clock.advance(seconds(2))
    expect(await process.pollBinding('i', 'b', unbound)).toEqual(ended)
    const deleted = await process.deprovision('i')
    await world.clock.advance(seconds(2))
    expect(await process.poll('i', deleted)).toEqual(ended)
  })

  it('and failed has its reason, not what it said last', async () => {
    const world = createWorld({
      service: {
        async provision(ctx) {
          ctx.describe('at work')
          throw new TerminalError('The quota is used up.')
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', operation)).toEqual({ state: 'failed', description: 'The quota is used up.' })
  })
})
