import { describe, expect, it } from 'vitest'
import { StoreUnavailableError } from '../../src/store.ts'
import { createWorld, ids, incomplete, minutes, seconds, takes } from './world.ts'

describe('a ledger that fails a broker', () => {
  it('an error while accepting leaves nothing in progress, and the request can be repeated', async () => {
    let broken = true
    const world = createWorld({ service: {} })
    const process = await world.boot({
      store: {
        ...world.ledger,
        accept: (target, decide) =>
          broken ? Promise.reject(new StoreUnavailableError('the disk is full')) : world.ledger.accept(target, decide),
      },
    })
    expect((await process.client.provision('i', ids, incomplete)).status).toBe(503)
    expect((await process.client.lastOperation('i')).status).toBe(404)
    expect(world.watch.operations().size).toBe(0)
    broken = false
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })

  it('an answer that was lost after the commit is given again: the same operation', async () => {
    let losing = true
    const world = createWorld({
      service: { provision: async ctx => ctx.step('create', () => takes(world.clock, seconds(3))) },
    })
    const process = await world.boot({
      store: {
        ...world.ledger,
        async accept(target, decide) {
          const answer = await world.ledger.accept(target, decide)
          if (losing) throw new StoreUnavailableError('the connection was lost')
          return answer
        },
      },
    })
    expect((await process.client.provision('i', ids, incomplete)).status).toBe(503)
    losing = false
    const operation = await process.provision('i')
    expect([...world.watch.operations().keys()]).toEqual([operation])
  })

  it('a store that breaks in the middle never makes an operation failed', async () => {
    let broken = false
    const world = createWorld({
      service: {
        async provision(ctx) {
          await ctx.step('one', () => takes(world.clock, seconds(2)))
          await ctx.step('two', () => takes(world.clock, seconds(2)))
        },
      },
    })
    const fail = () => Promise.reject(new StoreUnavailableError('no answer'))
    const process = await world.boot({
      store: {
        ...world.ledger,
        checkpoint: (...given) => (broken ? fail() : world.ledger.checkpoint(...given)),
        park: (...given) => (broken ? fail() : world.ledger.park(...given)),
        renew: (...given) => (broken ? fail() : world.ledger.renew(...given)),
        claim: (...given) => (broken ? fail() : world.ledger.claim(...given)),
        finish: (...given) => (broken ? fail() : world.ledger.finish(...given)),
        handBack: (...given) => (broken ? fail() : world.ledger.handBack(...given)),
        operation: (...given) => (broken ? fail() : world.ledger.operation(...given)),
      },
    })
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    broken = true
    await world.clock.advance(minutes(2))
    expect((await process.client.lastOperation('i', { operation })).status).toBe(503)
    broken = false
    await world.clock.advance(minutes(1))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })
})
