import { describe, expect, it } from 'vitest'
import { createWorld, seconds, takes } from './world.ts'

describe('steps', () => {
  it('a crash in the middle resumes after the lease and skips finished steps', async () => {
    const calls: string[] = []
    const world = createWorld({
      service: {
        async provision(ctx) {
          for (const name of ['network', 'disk', 'database'])
            await ctx.step(name, async () => {
              calls.push(name)
              await takes(world.clock, seconds(1))
            })
        },
      },
    })
    const first = await world.boot()
    const operation = await first.provision('i')
    await world.clock.advance(1_500)
    expect(calls).toEqual(['network', 'disk'])
    first.crash()
    const second = await world.boot()
    await world.clock.advance(seconds(20))
    expect(calls).toEqual(['network', 'disk'])
    expect(await second.poll('i', operation)).toMatchObject({ state: 'in progress' })
    await world.clock.advance(seconds(20))
    expect(calls).toEqual(['network', 'disk', 'disk', 'database'])
    expect(await second.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect([...world.watch.steps().values()]).toEqual([1, 1, 1])
  })

  it('the output of a step is given back after a restart, as it was seen the first time', async () => {
    const seen: unknown[] = []
    let made = 0
    const world = createWorld({
      service: {
        async provision(ctx) {
          seen.push(
            await ctx.step('create', () => ({ made: ++made, at: new Date(0), nothing: undefined, list: [1, null] })),
          )
          await ctx.step('start', () => takes(world.clock, seconds(1)))
        },
      },
    })
    const first = await world.boot()
    await first.provision('i')
    await world.clock.advance(500)
    first.crash()
    await world.boot()
    await world.clock.advance(seconds(40))
    const output = { made: 1, at: '1970-01-01T00:00:00.000Z', list: [1, null] }
    expect(seen).toEqual([output, output])
    expect(world.watch.active()).toEqual([])
  })

  it('the key of a call is the same on every retry and its fence rises with every holder', async () => {
    const calls: { readonly key: string; readonly fence: number }[] = []
    const world = createWorld({
      service: {
        async provision(ctx) {
          await ctx.step('create', ({ key, fence }) => {
            calls.push({ key, fence })
            if (calls.length < 3) throw new Error('not yet')
          })
          await ctx.step('other', ({ key, fence }) => void calls.push({ key, fence }))
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(10))
    expect(calls.map(({ key }) => key)).toEqual([
      ...Array.from({ length: 3 }, () => `${operation}/create`),
      `${operation}/other`,
    ])
    const fences = calls.map(({ fence }) => fence)
    expect(fences.slice(0, 3)).toEqual([...new Set(fences)].sort((a, b) => a - b))
  })

  it('a step name used twice in one action is refused with the reason', async () => {
    const world = createWorld({
      service: {
        async provision(ctx) {
          await ctx.step('same', () => 1)
          await ctx.step('same', () => 2)
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', operation)).toEqual({
      state: 'failed',
      description: 'The step "same" is used twice in one action: give each step its own name.',
    })
  })

  it('saved state reaches the deprovision of a creation that failed half-way', async () => {
    const removed: unknown[] = []
    const world = createWorld({
      service: {
        async provision(ctx) {
          await ctx.saveState({ disk: 'd-1' })
          await ctx.step('database', () => {
            throw Object.assign(new Error('no'), { status: 400 })
          })
        },
        async deprovision(ctx) {
          removed.push(ctx.state)
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'failed' })
    await process.deprovision('i')
    await world.clock.advance(seconds(1))
    expect(removed).toEqual([{ disk: 'd-1' }])
  })

  it('steps that run side by side are each committed once, whichever of them fails', async () => {
    let failures = 2
    const calls: string[] = []
    const world = createWorld({
      service: {
        async provision(ctx) {
          await Promise.all([
            ctx.step('good', () => void calls.push('good')),
            ctx.step('bad', () => {
              calls.push('bad')
              if (failures-- > 0) throw new Error('no')
            }),
          ])
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(10))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(calls.toSorted()).toEqual(['bad', 'bad', 'bad', 'good'])
  })
})
