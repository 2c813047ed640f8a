import { describe, expect, it } from 'vitest'
import type { Service } from '../../src/index.ts'
import { createWorld, seconds } from './world.ts'

type ObserveContext = Parameters<NonNullable<Service['observe']>>[0]

/** An instance with the state `{ made, grants: { zero } }` and a binding `zero`; the observation goes on when the test says so. */
async function createWatchedWorld(observe: (ctx: ObserveContext, goOn: Promise<void>) => Promise<void>) {
  let goOn = () => {}
  const told = new Promise<void>(resolve => {
    goOn = resolve
  })
  let looks = 0
  const world = createWorld({
    service: {
      observeEvery: '10m',
      provision: async () => ({ state: { made: true } }),
      bind: async ctx => ({ credentials: {}, instanceState: { grants: { [ctx.binding.id]: true } } }),
      unbind: async ctx => ({ instanceState: { grants: { [ctx.binding.id]: null } } }),
      async observe(ctx) {
        looks += 1
        if (looks === 1) await observe(ctx, told)
        return { ready: false, reason: 'Seen' }
      },
    },
  })
  const process = await world.boot()
  await process.provision('i')
  await world.clock.advance(seconds(1))
  await process.bind('i', 'zero')
  while (looks === 0) await world.clock.advance(seconds(10))
  const state = async () => (await world.ledger.instance('i'))?.state
  /** The observation ends. */
  const end = async () => {
    goOn()
    await world.clock.advance(seconds(5))
    expect((await world.ledger.instance('i'))?.conditions).toMatchObject([{ reason: 'Seen' }])
  }
  return { ...world, process, state, goOn, end }
}

describe('the state of an instance that is bound while it is observed', () => {
  it('keeps what the bind has merged into it, where the observation saves nothing', async () => {
    const world = await createWatchedWorld(async (_, goOn) => goOn)
    await world.process.bind('i', 'one')
    await world.clock.advance(seconds(1))
    await world.end()
    expect(await world.state()).toEqual({ made: true, grants: { zero: true, one: true } })
  })

  it('keeps it where the observation saves other keys, before and after the bind has ended', async () => {
    let seen: unknown
    const world = await createWatchedWorld(async (ctx, goOn) => {
      await ctx.saveState({ before: 1, empty: null })
      await goOn
      await ctx.saveState({ after: 2 })
      seen = ctx.state
    })
    await world.process.bind('i', 'one')
    await world.clock.advance(seconds(1))
    const grants = { zero: true, one: true }
    expect(await world.state()).toEqual({ made: true, before: 1, empty: null, grants })
    await world.end()
    expect(await world.state()).toEqual({ made: true, before: 1, empty: null, after: 2, grants })
    // What it sees is what it was given, with what it has saved itself.
    expect(seen).toEqual({ made: true, before: 1, empty: null, after: 2, grants: { zero: true } })
  })

  it('has what the observation saves under a key, where both change it', async () => {
    const world = await createWatchedWorld(async (ctx, goOn) => {
      await goOn
      await ctx.saveState({ grants: { seen: true } })
    })
    await world.process.bind('i', 'one')
    await world.clock.advance(seconds(1))
    await world.end()
    expect(await world.state()).toEqual({ made: true, grants: { seen: true } })
  })

  it('is left alone by an observation that an unbind has taken over from', async () => {
    const saved: string[] = []
    const world = await createWatchedWorld(async (ctx, goOn) => {
      await goOn
      saved.push('asked')
      await ctx.saveState({ late: true })
      saved.push('answered')
    })
    await world.process.unbind('i', 'zero')
    world.goOn()
    await world.clock.advance(seconds(5))
    expect(await world.state()).toEqual({ made: true, grants: {} })
    expect(saved).toEqual(['asked'])
  })
})
