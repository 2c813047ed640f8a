import { describe, expect, it } from 'vitest'
import { observeLines } from '../../src/observer/log.ts'
import { type Store, StoreUnavailableError } from '../../src/store.ts'
import { createWorld, minutes, seconds, takes } from './world.ts'

/** A store that a test can take away from a process: every call fails, none has an effect. */
function createBreakable(store: Store) {
  let broken = (_method: keyof Store) => false
  const calls: string[] = []
  const through =
    <Args extends readonly unknown[], Result>(name: keyof Store, method: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> => {
      calls.push(name)
      return broken(name) ? Promise.reject(new StoreUnavailableError('no answer')) : method(...args)
    }
  return {
    calls,
    breakWhen(condition: (method: keyof Store) => boolean) {
      broken = condition
    },
    store: {
      ...store,
      claim: through('claim', store.claim),
      renew: through('renew', store.renew),
      checkpoint: through('checkpoint', store.checkpoint),
      park: through('park', store.park),
      finish: (lease, decide) =>
        broken('finish') ? Promise.reject(new StoreUnavailableError('no answer')) : store.finish(lease, decide),
      handBack: through('handBack', store.handBack),
      share: through('share', store.share),
      chores: through('chores', store.chores),
    } satisfies Store,
  }
}

function createRecorder() {
  const lines: string[] = []
  return { lines, observer: observeLines('info', ({ level, text }) => lines.push(`${level} ${text}`)) }
}

describe('a store that does not answer', () => {
  it('is not a failure of the action: one attempt is still one attempt', async () => {
    const calls: string[] = []
    const world = createWorld({
      service: {
        actions: { provision: { retry: { initial: '1s', factor: 1, max: '1s', attempts: 1 } } },
        async provision(ctx) {
          await ctx.step('create', () => void calls.push('create'))
        },
      },
    })
    const { store, breakWhen } = createBreakable(world.ledger)
    let failures = 1
    breakWhen(method => method === 'checkpoint' && failures-- > 0)
    const process = await world.boot({ store })
    const operation = await process.provision('i')
    await world.clock.advance(seconds(5))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(calls).toEqual(['create', 'create'])
    expect((await world.ledger.operation(operation))?.losses).toBe(0)
  })

  it('lets no step begin, even where the action goes on beside the one that cannot be noted', async () => {
    const calls: string[] = []
    const world = createWorld({
      service: {
        async provision(ctx) {
          const later = takes(world.clock, 100).then(() => ctx.step('two', () => void calls.push('two')))
          const slow = ctx.step('slow', () => takes(world.clock, 500))
          await Promise.all([ctx.step('one', () => void calls.push('one')), slow, later])
        },
      },
    })
    const { store, breakWhen } = createBreakable(world.ledger)
    breakWhen(method => method === 'checkpoint' && calls.length > 0)
    const process = await world.boot({ store })
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(new Set(calls)).toEqual(new Set(['one']))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'in progress' })
    breakWhen(() => false)
    await world.clock.advance(seconds(5))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(calls.at(-1)).toBe('two')
  })

  it('is asked before the next step where it did not answer a renewal, or a description', async () => {
    const calls: string[] = []
    const world = createWorld({
      service: {
        async provision(ctx) {
          await ctx.step('one', () => void calls.push('one'))
          await takes(world.clock, seconds(11))
          ctx.describe('half of it')
          await ctx.step('two', () => void calls.push('two'))
        },
      },
    })
    const { store, breakWhen } = createBreakable(world.ledger)
    const process = await world.boot({ store })
    const operation = await process.provision('i')
    await world.clock.advance(seconds(5))
    expect(calls).toEqual(['one'])
    breakWhen(method => method !== 'claim')
    await world.clock.advance(seconds(10))
    expect(calls).toEqual(['one'])
    breakWhen(() => false)
    await world.clock.advance(minutes(1))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(calls).toEqual(['one', 'two'])
  })

  it('for longer than the lease: the signal is aborted, and the operation goes on when it is back', async () => {
    const signals: AbortSignal[] = []
    const world = createWorld({
      service: {
        callTimeout: '5m',
        async provision(ctx) {
          signals.push(ctx.signal)
          await ctx.step('create', ({ signal }) => {
            if (signals.length > 1) return
            return new Promise((_, reject) => signal.addEventListener('abort', reject))
          })
        },
      },
    })
    const { store, breakWhen } = createBreakable(world.ledger)
    const process = await world.boot({ store })
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    breakWhen(() => true)
    await world.clock.advance(seconds(25))
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    await world.clock.advance(seconds(5))
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await world.clock.advance(minutes(10))
    breakWhen(() => false)
    await world.clock.advance(seconds(30))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(signals).toHaveLength(2)
  })

  it('is reported once when it begins and once when it is over, and asked ever less often', async () => {
    const { lines, observer } = createRecorder()
    const world = createWorld({ service: {}, observer })
    const { store, breakWhen, calls } = createBreakable(world.ledger)
    await world.boot({ store })
    await world.clock.advance(seconds(3))
    expect(lines).toEqual([])
    breakWhen(() => true)
    calls.length = 0
    await world.clock.advance(minutes(10))
    expect(lines).toEqual(['error the store does not answer: no work is begun until it does'])
    // Once a second it would be 600 times; three times a lease is 60.
    const claims = calls.filter(call => call === 'claim').length
    expect(claims).toBeLessThan(70)
    expect(claims).toBeGreaterThan(50)
    breakWhen(() => false)
    await world.clock.advance(seconds(20))
    expect(lines.slice(1)).toEqual(['info the store answers again'])
  })

  it('that can be read but not written is one outage, not one for every look', async () => {
    const { lines, observer } = createRecorder()
    const world = createWorld({ service: {}, observer })
    const { store, breakWhen } = createBreakable(world.ledger)
    await world.boot({ store })
    breakWhen(method => method !== 'chores')
    await world.clock.advance(minutes(10))
    breakWhen(() => false)
    await world.clock.advance(minutes(1))
    expect(lines).toEqual([
      'error the store does not answer: no work is begun until it does',
      'info the store answers again',
    ])
  })

  it('is asked at once when a wake-up tells that it is back', async () => {
    const world = createWorld({ service: {} })
    const { store, breakWhen } = createBreakable(world.ledger)
    const process = await world.boot({ store })
    breakWhen(() => true)
    await world.clock.advance(minutes(10))
    breakWhen(() => false)
    const operation = await process.provision('i')
    await world.clock.advance(1)
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })
})
