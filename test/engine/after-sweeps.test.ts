import { describe, expect, it } from 'vitest'
import type { Service } from '../../src/index.ts'
import type { TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { createWorld, ids, incomplete, minutes, seconds, stopwatch, takes } from './world.ts'

interface Given {
  /** Which of the calls that remove a grant get no answer and land 25 seconds later: the first one, unless said otherwise. */
  readonly lost?: readonly number[]
  readonly service?: Partial<Service>
  readonly settings?: TestBrokerOptions['settings']
}

/** An instance with a binding `b` whose unbind has lost a call: its sweep is due a minute after it. */
async function unboundInDoubt({ lost = [1], service = {}, settings = {} }: Given = {}) {
  const log: string[] = []
  let calls = 0
  const world = createWorld({
    settings,
    service: {
      callTimeout: '30s',
      provision: async ctx => {
        await ctx.step('create', () => void log.push(`${now()} create`))
      },
      deprovision: async ctx => {
        await ctx.step('drop', () => void log.push(`${now()} drop`))
      },
      bind: async () => ({}),
      unbind: async ctx => {
        await ctx.step('revoke', async () => {
          log.push(`${now()} revoke ${ctx.binding.id}`)
          calls += 1
          if (!lost.includes(calls)) return
          void takes(world.clock, seconds(25)).then(() => log.push(`${now()} late revoke ${ctx.binding.id}`))
          throw new Error('no answer')
        })
      },
      ...service,
    },
  })
  const now = stopwatch(world.clock)
  const process = await world.boot()
  await process.provision('i')
  await world.clock.advance(seconds(1))
  await process.bind('i', 'b')
  await world.clock.advance(seconds(1))
  const unbind = await process.unbind('i', 'b')
  await world.clock.advance(seconds(3))
  expect(await process.pollBinding('i', 'b', unbind)).toMatchObject({ state: 'succeeded' })
  expect(world.watch.active()).toMatchObject([{ action: 'sweep', bindingId: 'b', state: 'queued' }])
  return { ...world, process, log, now }
}

describe('a DELETE while bindings are being swept', () => {
  it('is accepted at once, says what it waits for, and begins when the last sweep has ended', async () => {
    const { process, clock, log, ledger } = await unboundInDoubt()
    const deletion = await process.deprovision('i')
    expect(await process.deprovision('i')).toBe(deletion)
    await clock.advance(seconds(40))
    expect(await process.poll('i', deletion)).toMatchObject({
      state: 'in progress',
      description: 'waiting until what its bindings may have left behind is removed',
    })
    expect(log.some(line => line.endsWith('drop'))).toBe(false)
    await clock.advance(seconds(40))
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    expect(log).toEqual(['0 create', '2 revoke b', '3 revoke b', '27 late revoke b', '63 revoke b', '64 drop'])
    // The wait has cost two claims, and not one for each second.
    expect((await ledger.operation(deletion))?.attempt).toBe(3)
    expect((await process.client.provision('i', ids, incomplete)).status).toBe(202)
  })

  it('waits in the request where the platform takes no 202', async () => {
    const { process, clock } = await unboundInDoubt({ settings: { server: { syncTimeout: '2m' } } })
    const answer = process.client.deprovision('i', ids)
    await clock.advance(minutes(2))
    expect((await answer).status).toBe(200)
  })

  it('is not put off by a sweep that loses a call itself: its own sweep outlasts that call', async () => {
    const { process, clock, log, watch } = await unboundInDoubt({ lost: [1, 3] })
    const deletion = await process.deprovision('i')
    await clock.advance(seconds(70))
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    expect(log.at(-1)).toMatch(/^6\d drop$/)
    expect((await process.client.provision('i', ids)).status).toBe(422)
    expect(watch.active()).toMatchObject([{ action: 'sweep', instanceId: 'i' }])
    await clock.advance(minutes(2))
    expect(log.at(-1)).toMatch(/^12\d drop$/)
    expect(watch.active()).toEqual([])
    expect((await process.client.provision('i', ids, incomplete)).status).toBe(202)
  })

  it('goes on after a crash, whoever dies and whenever', async () => {
    for (const at of [1, 58, 60, 62]) {
      const { process, boot, clock, watch, log } = await unboundInDoubt()
      const deletion = await process.deprovision('i')
      await clock.advance(seconds(at))
      process.crash()
      const next = await boot()
      await clock.advance(minutes(5))
      expect(await next.poll('i', deletion), `crash after ${at} s`).toMatchObject({ state: 'succeeded' })
      expect(watch.active()).toEqual([])
      const drop = log.findIndex(line => line.endsWith('drop'))
      expect(log.slice(drop).filter(line => line.includes('revoke'))).toEqual([])
    }
  })

  it('has as much time as ever for its own work', async () => {
    const { process, clock } = await unboundInDoubt({ service: { actions: { deprovision: { timeout: '20s' } } } })
    const deletion = await process.deprovision('i')
    await clock.advance(minutes(2))
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
  })

  it('ends before the platform stops polling, however long the sweeps take', async () => {
    const plans = [{ id: 'plan', name: 'plan', description: 'The plan', maximumPollingDuration: 40 }]
    const { process, clock } = await unboundInDoubt({ service: { plans } })
    const deletion = await process.deprovision('i')
    await clock.advance(seconds(25))
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'failed' })
    await clock.advance(minutes(2))
    const again = await process.deprovision('i')
    await clock.advance(seconds(1))
    expect(await process.poll('i', again)).toMatchObject({ state: 'succeeded' })
  })

  it('is still refused while a platform binds or unbinds', async () => {
    const bind: Service['bind'] = async ctx => {
      if (ctx.binding.id === 'slow') await ctx.step('grant', () => takes(world.clock, seconds(20)))
      return {}
    }
    const world = await unboundInDoubt({ service: { bind }, settings: { osb: { cascadeDelete: true } } })
    await world.process.bind('i', 'slow')
    await world.clock.advance(seconds(1))
    expect(await world.process.client.deprovision('i', ids, incomplete)).toMatchObject({
      status: 422,
      body: { error: 'ConcurrencyError' },
    })
    await world.clock.advance(seconds(20))
    // A binding that is ready and one that is swept: with cascadeDelete neither is in the way.
    const deletion = await world.process.deprovision('i')
    await world.clock.advance(minutes(2))
    expect(await world.process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    expect(world.log.slice(-2).map(line => line.replace(/^\d+ /, ''))).toEqual(['revoke slow', 'drop'])
  })
})

describe('a PATCH while bindings are being swept', () => {
  const body = { service_id: ids.service_id, parameters: { size: 2 } }

  async function updatable(given: Given = {}) {
    const update: Service['update'] = async ctx => {
      await ctx.step('resize', () => void world.log.push(`${world.now()} resize`))
    }
    const world = await unboundInDoubt({ ...given, service: { update, ...given.service } })
    return world
  }

  it('is accepted, and begins when the last sweep has ended', async () => {
    const { process, clock, log } = await updatable({ lost: [1, 3] })
    const update = await process.update('i', { size: '2' })
    expect(await process.update('i', { size: '2' })).toBe(update)
    expect(await process.client.update('i', { ...body, parameters: { size: 3 } }, incomplete)).toMatchObject({
      status: 422,
    })
    await clock.advance(seconds(90))
    expect(await process.poll('i', update)).toMatchObject({
      state: 'in progress',
      description: 'waiting until what its bindings may have left behind is removed',
    })
    await clock.advance(seconds(60))
    expect(await process.poll('i', update)).toMatchObject({ state: 'succeeded' })
    expect(log.slice(-2).map(line => line.replace(/^\d+ /, ''))).toEqual(['revoke b', 'resize'])
  })

  it('is refused where the request would have to wait', async () => {
    const { process, clock } = await updatable()
    const early = process.client.update('i', body)
    await clock.advance(minutes(2))
    expect(await early).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } })
    const answer = process.client.update('i', body)
    await clock.advance(seconds(1))
    expect((await answer).status).toBe(200)
  })

  it('has as much time as ever for its own work', async () => {
    const { process, clock } = await updatable({ service: { actions: { update: { timeout: '20s' } } } })
    const update = await process.update('i', { size: '2' })
    await clock.advance(minutes(2))
    expect(await process.poll('i', update)).toMatchObject({ state: 'succeeded' })
  })

  it('gives way to a DELETE, which waits in its place', async () => {
    const { process, clock, log } = await updatable()
    const update = await process.update('i', { size: '2' })
    const deletion = await process.deprovision('i')
    await clock.advance(minutes(4))
    expect(await process.poll('i', update)).toMatchObject({ state: 'failed' })
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    expect(log.filter(line => line.endsWith('resize'))).toEqual([])
  })
})
