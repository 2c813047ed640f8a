import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store.ts'
import { createCrashPoints } from '../../src/testing/crash-points.ts'
import { createWorld, seconds, takes } from './world.ts'

/** A store whose answers, and questions, come as late as the network wants. */
function createStallable(store: Store) {
  let gate: Promise<void> = Promise.resolve()
  let open = () => {}
  const held =
    <Args extends readonly unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await gate
      return method(...args)
    }
  const stalled: Store = {
    ...store,
    claim: held(store.claim),
    renew: held(store.renew),
    checkpoint: held(store.checkpoint),
    park: held(store.park),
    finish: (lease, decide) => gate.then(() => store.finish(lease, decide)),
    handBack: held(store.handBack),
    share: held(store.share),
  }
  return {
    store: stalled,
    stall() {
      gate = new Promise(resolve => {
        open = resolve
      })
    },
    goOn: () => open(),
  }
}

describe('taking over', () => {
  it('a peaceful stop hands the leases back, and another process goes on at once', async () => {
    const calls: string[] = []
    const world = createWorld({
      service: {
        async provision(ctx) {
          await ctx.step('first', () => void calls.push('first'))
          await ctx.step('second', async ({ signal }) => {
            calls.push('second')
            if (calls.length === 2) await new Promise((_, reject) => signal.addEventListener('abort', reject))
          })
        },
      },
    })
    const first = await world.boot()
    const operation = await first.provision('i')
    await world.clock.advance(seconds(1))
    const second = await world.boot()
    const stopped = first.stop()
    await world.clock.advance(1)
    await stopped
    await world.clock.advance(1)
    expect(calls).toEqual(['first', 'second', 'second'])
    expect(await second.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })

  it('a peaceful stop lets an operation end that can, within the grace', async () => {
    const world = createWorld({
      service: {
        async provision(ctx) {
          await ctx.step('create', () => takes(world.clock, seconds(3)))
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    const stopped = process.stop(seconds(5))
    await world.clock.advance(seconds(5))
    await stopped
    expect((await world.ledger.operation(operation))?.state).toBe('succeeded')
  })

  it.each(['checkpoint', 'finish'] as const)(
    'a worker that stalls before its %s can write nothing after another took over',
    async method => {
      const calls: string[] = []
      const signals: AbortSignal[] = []
      const world = createWorld({
        service: {
          async provision(ctx) {
            signals.push(ctx.signal)
            const by = await ctx.step('create', async () => {
              calls.push('create')
              return `holder ${signals.length}`
            })
            return { state: { by } }
          },
        },
      })
      const stallable = createStallable(world.ledger)
      const points = createCrashPoints(point => {
        if (point.call === method && point.when === 'before' && calls.length === 1) stallable.stall()
      })
      const stalled = await world.boot({ store: points.wrap(stallable.store) })
      const operation = await stalled.provision('i')
      await world.clock.advance(seconds(20))
      const other = await world.boot()
      await world.clock.advance(seconds(20))
      expect(await other.poll('i', operation)).toMatchObject({ state: 'succeeded' })
      const before = [await world.ledger.instance('i'), await world.ledger.operation(operation)]
      stallable.goOn()
      await world.clock.advance(seconds(20))
      expect([await world.ledger.instance('i'), await world.ledger.operation(operation)]).toEqual(before)
      expect(before[0]).toMatchObject({ state: { by: method === 'checkpoint' ? 'holder 2' : 'holder 1' } })
      expect(signals[0]?.aborted).toBe(true)
    },
  )

  it('a worker whose renewals do not arrive stops working before its lease is over', async () => {
    let aborted: number | undefined
    const world = createWorld({
      service: {
        callTimeout: '5m',
        async provision(ctx) {
          ctx.signal.addEventListener('abort', () => {
            aborted ??= world.clock.now() - start
          })
          await ctx.step('create', () => takes(world.clock, seconds(200)))
        },
      },
    })
    const start = world.clock.now()
    const stallable = createStallable(world.ledger)
    const process = await world.boot({ store: stallable.store })
    await process.provision('i')
    await world.clock.advance(seconds(1))
    stallable.stall()
    await world.clock.advance(seconds(60))
    expect(aborted).toBeGreaterThan(seconds(20))
    expect(aborted).toBeLessThan(seconds(30))
  })

  it('work goes on as long as the renewals arrive', async () => {
    const world = createWorld({
      service: {
        callTimeout: '5m',
        async provision(ctx) {
          await ctx.step('create', () => takes(world.clock, seconds(200)))
        },
      },
    })
    const process = await world.boot()
    await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(201))
    expect((await world.ledger.operation(operation))?.attempt).toBe(1)
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })
})
