import { describe, expect, it } from 'vitest'
import type { Service } from '../../src/index.ts'
import { observeLines } from '../../src/observer/log.ts'
import { createWorld, ids, incomplete, minutes, seconds } from './world.ts'

const every = '0 * * * * *'

/** A broker that looks every minute for operations that ended five minutes ago and tombstones of an hour ago. */
async function start(options: { readonly settings?: object; readonly service?: Partial<Service> } = {}) {
  const lines: string[] = []
  const cleanUp = { age: minutes(5), all: every }
  const world = createWorld({
    service: { bind: async () => ({ credentials: {} }), async unbind() {}, async update() {}, ...options.service },
    observer: observeLines('info', ({ text, fields }) => lines.push(`${text}: ${fields.message ?? ''}`)),
    settings: {
      osb: { rememberDeleted: minutes(30) },
      chores: { purge: every, purgeAfter: minutes(60), cleanUp: { instances: cleanUp, bindings: cleanUp } },
      ...options.settings,
    },
  })
  const process = await world.boot()
  return {
    ...world,
    ...process,
    clock: world.clock,
    logged: (text: string) => lines.filter(line => line.includes(text)),
  }
}

describe('a poll after a clean-up', () => {
  it('of a live instance: the latest operation stays, and answers for those that are gone', async () => {
    const t = await start()
    const created = await t.provision('i')
    await t.clock.advance(seconds(5))
    const updated = await t.update('i', { size: '2' })
    await t.clock.advance(minutes(10))
    expect(await t.ledger.operation(created)).toBeUndefined()
    expect(await t.ledger.operation(updated)).toMatchObject({ state: 'succeeded' })
    for (const operation of [undefined, created, updated])
      expect(await t.poll('i', operation)).toEqual({ state: 'succeeded' })
    expect((await t.client.provision('i', ids, incomplete)).status).toBe(200)
    expect(t.logged('removed 1 operation')).toHaveLength(1)
  })

  it('never of what is in progress, however old', async () => {
    const t = await start({ service: { provision: async ctx => ctx.wait('5m', 'still at it') } })
    const operation = await t.provision('i')
    await t.clock.advance(minutes(59))
    expect(await t.poll('i', operation)).toMatchObject({ state: 'in progress' })
    await t.clock.advance(minutes(10))
    expect(await t.poll('i', operation)).toMatchObject({ state: 'failed' })
  })

  it('of a deleted instance and a deleted binding: succeeded while remembered, then gone, then unknown', async () => {
    const t = await start()
    await t.provision('i')
    await t.clock.advance(seconds(2))
    await t.bind('i', 'b')
    await t.clock.advance(seconds(2))
    const unbound = await t.unbind('i', 'b')
    await t.clock.advance(seconds(2))
    const deleted = await t.deprovision('i')
    await t.clock.advance(minutes(10))
    expect(await t.ledger.operation(unbound)).toBeUndefined()
    expect(await t.ledger.operation(deleted)).toBeUndefined()
    const polls = async () => [
      (await t.client.lastOperation('i', { operation: deleted })).status,
      (await t.client.lastOperation('i')).status,
      (await t.client.lastBindingOperation('i', 'b', { operation: unbound })).status,
    ]
    expect(await polls()).toEqual([200, 200, 200])
    expect(await t.poll('i', deleted)).toEqual({ state: 'succeeded' })
    expect(await t.pollBinding('i', 'b', unbound)).toEqual({ state: 'succeeded' })
    await t.clock.advance(minutes(30))
    expect(await polls()).toEqual([410, 410, 410])
    expect((await t.client.deprovision('i', ids, incomplete)).status).toBe(410)
    await t.clock.advance(minutes(30))
    expect(await t.ledger.instance('i')).toBeUndefined()
    expect(await polls()).toEqual([404, 404, 404])
    expect(t.logged('tombstone').length).toBeGreaterThan(0)
    await t.provision('i')
    await t.clock.advance(seconds(2))
    expect(await t.poll('i')).toEqual({ state: 'succeeded' })
  })

  it('with pollAfterDelete: gone, a deletion that was cleaned up answers 410', async () => {
    const t = await start({
      settings: { osb: { pollAfterDelete: 'gone' }, chores: { cleanUp: { instances: { age: 0, all: every } } } },
    })
    await t.provision('i')
    await t.clock.advance(seconds(2))
    const deleted = await t.deprovision('i')
    await t.clock.advance(minutes(2))
    expect(await t.ledger.operation(deleted)).toBeUndefined()
    expect((await t.client.lastOperation('i', { operation: deleted })).status).toBe(410)
  })

  it('a request that waits for a deletion is not misled by a clean-up that is faster than its look', async () => {
    const t = await start()
    await t.provision('i')
    await t.clock.advance(seconds(2))
    const { accept } = t.ledger
    let cleaned = 0
    // Another replica ends the deletion and cleans it up before the waiting one looks.
    const store = {
      ...t.ledger,
      accept: async (...args: Parameters<typeof accept>) => {
        const answer = await accept(...args)
        await t.clock.advance(seconds(1))
        cleaned += await t.ledger.cleanUp({ of: 'instances', states: ['succeeded'], before: t.clock.now(), max: 10 })
        return answer
      },
    } as typeof t.ledger
    const other = await t.boot({ store })
    expect((await other.client.deprovision('i', ids)).status).toBe(200)
    expect(cleaned).toBeGreaterThan(0)
  })

  it('of each kind only what it is for, instances and bindings apart', async () => {
    const fails: Partial<Service> = {
      async update() {
        throw Object.assign(new Error('no'), { status: 400 })
      },
    }
    const t = await start({
      service: fails,
      settings: { chores: { cleanUp: { instances: { age: minutes(5), failed: every }, bindings: { age: 0 } } } },
    })
    const created = await t.provision('i')
    await t.clock.advance(seconds(2))
    const bound = await t.bind('i', 'b')
    await t.clock.advance(seconds(2))
    const unbound = await t.unbind('i', 'b')
    await t.clock.advance(seconds(2))
    const failed = await t.update('i', { size: '2' })
    await t.clock.advance(seconds(2))
    const last = await t.update('i', { size: '3' })
    await t.clock.advance(minutes(10))
    const kept = await Promise.all([created, bound, unbound, failed, last].map(id => t.ledger.operation(id)))
    expect(kept.map(operation => operation?.state)).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
      undefined,
      'failed',
    ])
    expect(await t.poll('i', failed)).toMatchObject({ state: 'failed' })
  })
})
