import { describe, expect, it } from 'vitest'
import { type Service, TerminalError } from '../../src/index.ts'
import { createWorld, ids, incomplete, minutes, seconds, stopwatch, takes, type World } from './world.ts'

/**
 * A backend that does what it was told however late, and two steps that use it: what the nth call of a kind takes is the
 * nth of its list of seconds, one second beyond it.
 */
function createBackendWorld(latency: Readonly<Record<string, readonly number[]>>, more: Partial<Service> = {}) {
  const things = new Set<string>()
  const log: string[] = []
  const signals: AbortSignal[] = []
  const counts = new Map<string, number>()
  const call = async (kind: string, thing: string, signal: AbortSignal, effect: () => void) => {
    const count = counts.get(kind) ?? 0
    counts.set(kind, count + 1)
    signals.push(signal)
    log.push(`${now()} ${kind} ${thing}`)
    await takes(world.clock, seconds(latency[kind]?.[count] ?? 1))
    effect()
    log.push(`${now()} ${kind} ${thing} landed`)
  }
  const create = (kind: string, thing: string) => (given: { signal: AbortSignal }) =>
    call(kind, thing, given.signal, () => void things.add(thing))
  const drop = (kind: string, thing: string) => (given: { signal: AbortSignal }) =>
    call(kind, thing, given.signal, () => void things.delete(thing))
  const world: World = createWorld({
    service: {
      bindable: true,
      provision: async ctx => {
        await ctx.step('create', create('create', ctx.instance.id))
      },
      deprovision: async ctx => {
        await ctx.step('drop', drop('drop', ctx.instance.id))
      },
      bind: async ctx => {
        await ctx.step('grant', create('grant', ctx.binding.id))
        return {}
      },
      unbind: async ctx => {
        await ctx.step('revoke', drop('revoke', ctx.binding.id))
      },
      ...more,
    },
  })
  const now = stopwatch(world.clock)
  return { ...world, things, log, signals }
}

/** An instance, and a bind that fails while one of its calls is still on its way. */
async function failingBind(more: Partial<Service> = {}) {
  const refuse = new TerminalError('no more grants')
  let grants = 0
  const world = createBackendWorld(
    {},
    {
      bind: async ctx => {
        await ctx.step('grant', async () => {
          grants += 1
          if (grants > 1) throw refuse
          await takes(world.clock, seconds(20))
          world.things.add(ctx.binding.id)
        })
        return {}
      },
      ...more,
    },
  )
  const process = await world.boot()
  await process.provision('i')
  await world.clock.advance(seconds(2))
  return { world, process, operation: await process.bind('i', 'b') }
}

describe('DELETE takes over', () => {
  it('it aborts the signal of a running creation and starts when its worker has let go, not before', async () => {
    const world = createBackendWorld({ create: [60] }, { callTimeout: '2m' })
    const process = await world.boot()
    const creation = await process.provision('i')
    await world.clock.advance(seconds(1))
    const deletion = await process.deprovision('i')
    expect(await process.poll('i', creation)).toMatchObject({
      state: 'failed',
      description: 'superseded by deprovision',
    })
    await world.clock.advance(seconds(8))
    expect(world.signals.map(signal => signal.aborted)).toEqual([false])
    // The next renewal, at 10 seconds, tells the worker.
    await world.clock.advance(seconds(3))
    expect(world.signals[0]?.aborted).toBe(true)
    expect(world.log).toEqual(['0 create i', '10 drop i', '11 drop i landed'])
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    expect(await process.poll('i', creation)).toMatchObject({ state: 'failed' })
  })

  it('a worker that finishes its step learns it at once', async () => {
    const world = createBackendWorld({ create: [4] })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    await process.deprovision('i')
    await world.clock.advance(seconds(5))
    expect(world.log).toEqual(['0 create i', '4 create i landed', '4 drop i', '5 drop i landed'])
    expect(world.things).toEqual(new Set())
  })

  it('it waits for the lease of a worker that does not answer any more', async () => {
    const world = createBackendWorld({ create: [10] })
    const first = await world.boot()
    await first.provision('i')
    await world.clock.advance(seconds(1))
    first.crash()
    const second = await world.boot()
    const deletion = await second.deprovision('i')
    await world.clock.advance(seconds(28))
    expect(world.log).toEqual(['0 create i', '10 create i landed'])
    await world.clock.advance(seconds(3))
    expect(world.log.slice(2)).toEqual(['30 drop i', '31 drop i landed'])
    expect(await second.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
  })

  it('a sweep removes what a late call created; until then the id is taken, then it is free', async () => {
    const world = createBackendWorld({ create: [23] })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    const deletion = await process.deprovision('i')
    await world.clock.advance(seconds(13))
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    const early = await process.client.provision('i', ids)
    expect(early).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } })
    await world.clock.advance(seconds(10))
    expect(world.things).toEqual(new Set(['i']))
    await world.clock.advance(seconds(20))
    expect(world.things).toEqual(new Set())
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    const again = await process.provision('i')
    await world.clock.advance(seconds(2))
    expect(await process.poll('i', again)).toMatchObject({ state: 'succeeded' })
    expect(world.things).toEqual(new Set(['i']))
  })

  it('the same holds for the DELETE of a binding', async () => {
    const world = createBackendWorld({ grant: [23] })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(2))
    await process.bind('i', 'b')
    await world.clock.advance(seconds(1))
    const deletion = await process.unbind('i', 'b')
    await world.clock.advance(seconds(13))
    expect(await process.pollBinding('i', 'b', deletion)).toMatchObject({ state: 'succeeded' })
    expect((await process.client.bind('i', 'b', ids)).status).toBe(422)
    await world.clock.advance(seconds(30))
    expect(world.things).toEqual(new Set(['i']))
    await process.bind('i', 'b')
    await world.clock.advance(seconds(2))
    expect(world.things).toEqual(new Set(['i', 'b']))
  })

  it('a creation that was never begun leaves nothing to sweep', async () => {
    const world = createBackendWorld({})
    const process = await world.boot({ concurrency: 1 })
    await process.provision('other')
    await process.provision('i')
    const deletion = await process.deprovision('i')
    await world.clock.advance(seconds(5))
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    expect(world.watch.active()).toEqual([])
    await process.provision('i')
  })
})

describe('what may still land is swept', () => {
  it('a call that timed out in a creation which then succeeded', async () => {
    const world = createBackendWorld({ create: [24, 1] })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(15))
    await process.deprovision('i')
    await world.clock.advance(seconds(5))
    expect(world.things).toEqual(new Set())
    await world.clock.advance(seconds(6))
    expect(world.things).toEqual(new Set(['i']))
    await world.clock.advance(minutes(1))
    expect(world.things).toEqual(new Set())
  })

  it('a call that was under way when its process was stopped in peace', async () => {
    const world = createBackendWorld({ create: [20, 1] })
    const first = await world.boot()
    await first.provision('i')
    await world.clock.advance(seconds(1))
    const stopped = first.stop()
    await world.clock.advance(0)
    await stopped
    const second = await world.boot()
    await world.clock.advance(seconds(3))
    await second.deprovision('i')
    await world.clock.advance(seconds(3))
    expect(world.things).toEqual(new Set())
    await world.clock.advance(minutes(1))
    expect(world.log.filter(line => line.includes('create'))).toHaveLength(4)
    expect(world.things).toEqual(new Set())
  })

  it('a call of a bind that failed, when its instance is deleted with it', async () => {
    const { world, process, operation } = await failingBind()
    await world.clock.advance(seconds(14))
    expect(await process.pollBinding('i', 'b', operation)).toMatchObject({ state: 'failed' })
    const deletion = await process.deprovision('i')
    await world.clock.advance(seconds(3))
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    expect((await process.client.unbind('i', 'b', ids, incomplete)).status).toBe(410)
    await world.clock.advance(minutes(1))
    expect(world.things).toEqual(new Set())
    expect(world.log.filter(line => line.includes('revoke b'))).toHaveLength(4)
    expect((await world.ledger.binding('i', 'b'))?.phase).toBe('deleted')
    expect(world.watch.active()).toEqual([])
  })

  it('and where the backend refuses the sweep, the next instance of that id has none of its bindings', async () => {
    let refuse = false
    const { world, process } = await failingBind({
      unbind: async () => {
        if (refuse) throw new TerminalError('not today')
      },
    })
    await world.clock.advance(seconds(14))
    await process.deprovision('i')
    await world.clock.advance(seconds(3))
    refuse = true
    await world.clock.advance(minutes(1))
    expect([...world.watch.operations().values()].map(({ action, state }) => `${action} ${state}`)).toContain(
      'sweep failed',
    )
    await process.provision('i')
    await world.clock.advance(seconds(3))
    expect(await world.ledger.bindings('i')).toEqual([])
    expect((await process.client.unbind('i', 'b', ids, incomplete)).status).toBe(410)
  })

  it('a call of the sweep itself, before the id is free again', async () => {
    // The creation (late) is deleted; the first call of the sweep would land long after the second has ended it.
    const world = createBackendWorld({ create: [23], drop: [1, 24, 1] })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    await process.deprovision('i')
    let status = 0
    for (let second = 0; second < 300 && status !== 202; second += 1) {
      await world.clock.advance(seconds(1))
      status = (await process.client.provision('i', ids, incomplete)).status
    }
    expect(status).toBe(202)
    await world.clock.advance(minutes(2))
    expect(await process.poll('i')).toMatchObject({ state: 'succeeded' })
    expect(world.things).toEqual(new Set(['i']))
  })

  it('a refusal after a crash keeps the instance, so that the platform cleans up', async () => {
    let refuse = false
    const world = createBackendWorld(
      {},
      {
        provision: async ctx => {
          if (refuse) throw new TerminalError('The quota is used up.', { status: 403 })
          await ctx.step('create', async () => {
            world.things.add(ctx.instance.id)
            await takes(world.clock, seconds(5))
          })
        },
      },
    )
    const first = await world.boot()
    const creation = await first.provision('i')
    await world.clock.advance(seconds(1))
    first.crash()
    refuse = true
    const second = await world.boot()
    await world.clock.advance(seconds(40))
    expect(await second.poll('i', creation)).toMatchObject({ state: 'failed', description: 'The quota is used up.' })
    await second.deprovision('i')
    await world.clock.advance(minutes(1))
    expect(world.things).toEqual(new Set())
  })
})
