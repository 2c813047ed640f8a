/** Replicas that are started again under their name, in virtual time, with a lease that would take minutes to run out. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Service } from '../../src/index.ts'
import type { Observer } from '../../src/observer.ts'
import type { Store } from '../../src/store.ts'
import { deferred } from '../http/sockets.ts'
import { createWorld, type Process, seconds, takes, type World } from './world.ts'

const engine = { name: 'broker-0', lease: '10m', callTimeout: '1m' } as const

function createNamed(service: Partial<Service>, observer?: Observer): World {
  return createWorld({ service, settings: { engine }, observer })
}

/** Boots a process that may have to wait for its name. */
async function bootLater({ boot, clock }: World, options: Parameters<World['boot']>[0] = {}): Promise<Process> {
  let booted = false
  const booting = boot(options).finally(() => {
    booted = true
  })
  booting.catch(() => {})
  for (let round = 0; !booted && round < 100; round += 1) await clock.advance(100)
  expect(booted, 'it starts, or says why not, within ten seconds').toBe(true)
  return booting
}

describe('a replica with a name', () => {
  it('goes on with what it ran when it is started again, long before the lease is over', async () => {
    const ran: string[] = []
    const world = createNamed({
      async provision(ctx) {
        await ctx.step('one', () => ran.push(`one ${ctx.operation.attempt}`))
        await ctx.step('two', async () => {
          ran.push(`two ${ctx.operation.attempt}`)
          if (ctx.operation.attempt === 1) await takes(world.clock, seconds(3_600))
        })
      },
    })
    const first = await world.boot()
    const operation = await first.provision('i')
    await world.clock.advance(seconds(1))
    first.crash()
    const crashedAt = world.clock.now()
    const second = await bootLater(world)
    await world.clock.advance(seconds(1))
    expect(await second.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(world.clock.now() - crashedAt).toBeLessThanOrEqual(seconds(5))
    expect(ran).toEqual(['one 1', 'two 1', 'two 2'])
    await second.stop()
  })

  it('need not wait where the one before has ended in order', async () => {
    const world = createNamed({})
    await (await world.boot()).stop()
    await (await world.boot()).stop()
  })

  it('does not start where another lives under its name, which goes on', async () => {
    const world = createNamed({})
    const first = await world.boot()
    onTestFinished(() => first.stop())
    const since = world.clock.now()
    await world.clock.advance(seconds(60))
    const refused = await bootLater(world).catch((error: Error) => error)
    expect(refused).toMatchObject({ name: 'NameInUseError', what: 'The name broker-0 is in use.' })
    expect(refused).toMatchObject({ why: expect.stringContaining(`/${process.pid}/`) })
    expect(refused).toMatchObject({ why: expect.stringContaining(new Date(since).toISOString()) })
    expect(refused).toMatchObject({ next: expect.stringContaining('engine.name') })
    const operation = await first.provision('i')
    await world.clock.advance(seconds(1))
    expect(await first.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })

  it('of two that wait for a name that is free soon, one starts', async () => {
    const world = createNamed({})
    const first = await world.boot()
    first.crash()
    const booted = await Promise.allSettled([bootLater(world), bootLater(world)])
    expect(booted.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    for (const each of booted) if (each.status === 'fulfilled') await each.value.stop()
  })

  it('that was held up begins no call after its name was taken, though its own lease would stand', async () => {
    const [paused, calls, lost] = [deferred(), [] as string[], [] as string[]]
    const world = createNamed(
      {
        async provision(ctx) {
          await ctx.step('one', () => (ctx.operation.attempt === 1 ? paused.promise : undefined))
          await ctx.step('two', () => void calls.push(`two ${ctx.operation.attempt}`))
        },
      },
      { 'name.lost': ({ name }) => lost.push(name) },
    )
    const { store, hold, goOn } = holdUp(world.ledger)
    const first = await world.boot({ store })
    onTestFinished(() => {
      goOn()
      return first.stop()
    })
    await first.provision('i')
    await world.clock.advance(seconds(1))
    hold()
    // It takes the name, and nobody has claimed the operation yet: its fence is still the old one.
    const taken = await world.ledger.takeName({ name: 'broker-0', owner: 'other', silence: 0 })
    expect(taken.taken).toBe(true)
    await world.clock.advance(seconds(4))
    paused.resolve()
    await world.clock.advance(1)
    expect(calls).toEqual([])
    goOn()
    await world.clock.advance(seconds(2))
    expect(lost).toEqual(['broker-0'])
    expect(calls, 'claimed again, by a replica without a name').toEqual(['two 2'])
  })
})

/** A store that signs of life and claims do not reach between `hold` and `goOn`, as those of a process that was stopped. */
function holdUp(store: Store): { readonly store: Store; hold(): void; goOn(): void } {
  const gate = deferred()
  let open = Promise.resolve()
  return {
    store: {
      ...store,
      renewName: async (name, owner) => {
        await open
        return store.renewName(name, owner)
      },
      claim: async (...request) => {
        await open
        return store.claim(...request)
      },
    },
    hold() {
      open = gate.promise
    },
    goOn: gate.resolve,
  }
}
