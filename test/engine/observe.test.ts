import { describe, expect, it } from 'vitest'
import type { ObserveResult, Service } from '../../src/index.ts'
import { createWorld, ids, incomplete, minutes, seconds, takes } from './world.ts'

/** A service whose health a test sets. */
function createHealthWorld(more: Partial<Service> = {}) {
  const health: { seen: ObserveResult | Error; looks: number } = { seen: { ready: true }, looks: 0 }
  const world = createWorld({
    service: {
      observeEvery: '1m',
      async observe() {
        health.looks += 1
        if (health.seen instanceof Error) throw health.seen
        return health.seen
      },
      ...more,
    },
  })
  const conditions = async () => (await world.ledger.instance('i'))?.conditions ?? []
  return { ...world, health, conditions }
}

describe('observations', () => {
  it('health becomes conditions with reasons and times, and the history tells when it changed', async () => {
    const world = createHealthWorld()
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    const created = world.clock.now() - seconds(1)
    expect(await world.conditions()).toMatchObject([{ type: 'Ready', status: true, since: created }])
    world.health.seen = { ready: false, degraded: true, reason: 'DiskFull', message: 'The disk is full.' }
    await world.clock.advance(minutes(2))
    const since = (await world.conditions())[0]?.since ?? 0
    expect(since).toBeGreaterThan(created)
    expect(await world.conditions()).toMatchObject([
      { type: 'Ready', status: false, reason: 'DiskFull', message: 'The disk is full.' },
      { type: 'Degraded', status: true, reason: 'DiskFull' },
    ])
    await world.clock.advance(minutes(2))
    expect((await world.conditions())[0]).toMatchObject({ since })
    expect((await world.conditions())[0]?.observedAt).toBeGreaterThan(since)
    world.health.seen = { ready: true }
    await world.clock.advance(minutes(2))
    expect(await world.conditions()).toMatchObject([{ type: 'Ready', status: true }])
    const history = (await world.ledger.history('i')).map(({ type, action }) => `${type} ${action}`)
    expect(history).toEqual(['accepted provision', 'succeeded provision', 'degraded observe', 'healed observe'])
    expect(await process.poll('i')).toMatchObject({ state: 'succeeded' })
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })

  it('an observation that throws counts as not ready and comes again', async () => {
    const world = createHealthWorld()
    const process = await world.boot()
    await process.provision('i')
    world.health.seen = new Error('no route')
    await world.clock.advance(minutes(5))
    expect(world.health.looks).toBeGreaterThanOrEqual(4)
    expect(await world.conditions()).toMatchObject([{ type: 'Ready', status: false, reason: 'ObservationFailed' }])
    expect(world.watch.active()).toEqual([])
  })

  it('7696: a failed provision that heals answers its PUT with 200, while its last_operation stays failed', async () => {
    const world = createHealthWorld({
      async provision(ctx) {
        await ctx.saveState({ name: 'db-1' })
        throw Object.assign(new Error('no answer from the channel'), { status: 400 })
      },
    })
    world.health.seen = { ready: false, reason: 'ChannelMissing' }
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(minutes(2))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'failed' })
    expect((await process.client.fetchInstance('i')).status).toBe(404)
    world.health.seen = { ready: true }
    await world.clock.advance(minutes(2))
    expect((await process.client.provision('i', ids, incomplete)).status).toBe(200)
    expect((await process.client.fetchInstance('i')).status).toBe(200)
    expect(await process.poll('i', operation)).toMatchObject({ state: 'failed' })
    expect(await process.poll('i')).toMatchObject({ state: 'failed' })
  })

  it('a failed provision that does not heal is tried again by its PUT, under a new operation', async () => {
    let fails = true
    const world = createHealthWorld({
      async provision() {
        if (fails) throw Object.assign(new Error('no'), { status: 400 })
      },
    })
    world.health.seen = { ready: false }
    const process = await world.boot()
    const first = await process.provision('i')
    await world.clock.advance(minutes(2))
    fails = false
    const second = await process.provision('i')
    await world.clock.advance(seconds(5))
    expect(second).not.toBe(first)
    expect(await process.poll('i', first)).toMatchObject({ state: 'failed' })
    expect(await process.poll('i', second)).toMatchObject({ state: 'succeeded' })
  })

  it('an update takes over from an observation, which can write nothing any more', async () => {
    let looking = 0
    const world = createHealthWorld({
      async observe(ctx) {
        looking += 1
        await takes(world.clock, seconds(5))
        return { ready: false, message: `seen with ${JSON.stringify(ctx.parameters)}` }
      },
      async update(ctx) {
        return { state: { size: ctx.parameters } }
      },
    })
    const process = await world.boot()
    await process.provision('i')
    while (looking === 0) await world.clock.advance(seconds(1))
    const operation = await process.update('i', { size: 'large' })
    await world.clock.advance(seconds(8))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(looking).toBe(1)
    expect(await world.conditions()).toMatchObject([{ type: 'Ready', status: true }])
    expect(world.watch.active()).toEqual([])
  })

  it('a crash in an observation loses nothing: it is looked at again', async () => {
    const world = createHealthWorld({
      async observe() {
        world.health.looks += 1
        if (world.health.looks === 1) await takes(world.clock, minutes(60))
        return { ready: false }
      },
    })
    const first = await world.boot()
    await first.provision('i')
    while (world.health.looks === 0) await world.clock.advance(seconds(1))
    first.crash()
    await world.boot()
    await world.clock.advance(minutes(1))
    expect(world.health.looks).toBe(2)
    expect(await world.conditions()).toMatchObject([{ type: 'Ready', status: false }])
  })
})
