import { describe, expect, it } from 'vitest'
import { type Hook, TerminalError } from '../../src/index.ts'
import { createWorld, ids, incomplete, minutes, seconds, takes } from './world.ts'

function createHooks(log: string[], more: Partial<Hook> = {}): Hook[] {
  return ['one', 'two'].map(name => ({
    name,
    before: () => void log.push(`before ${name}`),
    after: () => void log.push(`after ${name}`),
    error: (_, error) => void log.push(`error ${name}: ${error instanceof Error ? error.message : ''}`),
    ...(name === 'one' ? more : {}),
  }))
}

describe('hooks', () => {
  it('run once each and in order, around retries, waits and crashes', async () => {
    const log: string[] = []
    let runs = 0
    const world = createWorld({
      hooks: createHooks(log),
      service: {
        async provision(ctx) {
          runs += 1
          log.push(`run ${runs}`)
          if (runs === 1) return ctx.wait('1s', 'soon')
          await ctx.step('create', () => {
            if (runs === 2) throw new Error('not yet')
          })
          if (runs === 3) await takes(world.clock, minutes(60))
          return { state: { done: true } }
        },
      },
    })
    const first = await world.boot()
    const operation = await first.provision('i')
    await world.clock.advance(seconds(5))
    first.crash()
    const second = await world.boot()
    await world.clock.advance(seconds(40))
    expect(await second.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(log).toEqual(['before one', 'before two', 'run 1', 'run 2', 'run 3', 'run 4', 'after one', 'after two'])
  })

  it('are tried again like any step when they fail', async () => {
    const log: string[] = []
    let failures = 1
    const world = createWorld({
      hooks: createHooks(log, {
        after: () => {
          if (failures-- > 0) throw new Error('not yet')
          log.push('after one')
        },
      }),
      service: { provision: async () => void log.push('run') },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(5))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(log).toEqual(['before one', 'before two', 'run', 'run', 'after one', 'after two'])
  })

  it('hear of a failure once it is final, and cannot change it', async () => {
    const log: string[] = []
    let attempts = 0
    const world = createWorld({
      hooks: createHooks(log, {
        error: () => {
          log.push('error one')
          throw new Error('the hook is broken too')
        },
      }),
      service: {
        async provision(ctx) {
          await ctx.step('create', () => {
            attempts += 1
            throw attempts === 1 ? new Error('not yet') : new TerminalError('Never.')
          })
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(5))
    expect(await process.poll('i', operation)).toEqual({ state: 'failed', description: 'Never.' })
    expect(log).toEqual(['before one', 'before two', 'error one', 'error two: Never.'])
  })

  it('a veto answers a synchronous request with its 4xx and leaves nothing behind', async () => {
    const log: string[] = []
    const world = createWorld({
      hooks: createHooks(log, {
        before: ctx => {
          if (ctx.instance.id === 'vetoed') throw new TerminalError('Not for this organization.', { status: 403 })
        },
      }),
      service: { provision: async () => void log.push('run') },
    })
    const process = await world.boot()
    const answer = process.client.provision('vetoed', ids)
    await world.clock.advance(seconds(2))
    expect(await answer).toMatchObject({ status: 403, body: { description: 'Not for this organization.' } })
    expect(log).not.toContain('run')
    expect((await process.client.deprovision('vetoed', ids, incomplete)).status).toBe(410)
    expect((await process.client.fetchInstance('vetoed')).status).toBe(404)
    expect((await world.ledger.instance('vetoed'))?.phase).toBe('deleted')
    const other = process.client.provision('allowed', ids)
    await world.clock.advance(seconds(2))
    expect((await other).status).toBe(201)
  })

  it('observations and sweeps have no hooks unless one names them', async () => {
    const seen: string[] = []
    const note = (name: string) => (ctx: { readonly action: string }) => void seen.push(`${name} ${ctx.action}`)
    const world = createWorld({
      hooks: [
        { name: 'all', before: note('all') },
        { name: 'observing', actions: ['observe'], before: note('observing') },
      ],
      service: { observeEvery: '1m', observe: async () => ({ ready: true }) },
    })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(90))
    expect(seen).toEqual(['all provision', 'observing observe'])
  })
})
