import { expect, it } from 'vitest'
import type { Store } from '../../src/store.ts'
import { ids, incomplete, minutes, seconds, takes } from '../engine/world.ts'
import { describeWorlds } from './worlds.ts'

describeWorlds('defects of other brokers that must not come back', makeWorld => {
  it('Kyma 7193: a dependency that appears later is waited for, and the provision succeeds', async () => {
    let channel = false
    const world = await makeWorld({
      service: {
        async provision(ctx) {
          await ctx.step('subscribe to the channel', () => {
            if (!channel) throw new Error('there is no channel of this application')
          })
        },
      },
    })
    const process = await world.bootReplica()
    const operation = await process.provision('i')
    await world.clock.advance(minutes(1))
    expect(await process.poll('i', operation)).toMatchObject({
      state: 'in progress',
      description: expect.stringContaining('"subscribe to the channel" failed'),
    })
    channel = true
    await world.clock.advance(minutes(1))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })

  it.each([-600, -100, 0, 300])(
    'Kyma 6342: the deprovision of one application never takes what it shares from the provision of another (%i ms)',
    async offset => {
      const labels = new Set<string>()
      const log: string[] = []
      const slow = async (kind: string, effect: () => void) => {
        log.push(kind)
        await takes(world.clock, 500)
        effect()
      }
      const world = await makeWorld({
        service: {
          async provision(ctx) {
            await ctx.share('label', () => slow('create', () => void labels.add('label')))
          },
          async deprovision(ctx) {
            await ctx.unshare('label', () => slow('remove', () => void labels.delete('label')))
          },
        },
      })
      const [one, other] = [await world.bootReplica(), await world.bootReplica()]
      await one.provision('app1')
      await world.clock.advance(seconds(3))
      const requests = [
        { at: Math.max(0, -offset), send: () => one.deprovision('app1') },
        { at: Math.max(0, offset), send: () => other.provision('app2') },
      ].toSorted((first, second) => first.at - second.at)
      let passed = 0
      for (const { at, send } of requests) {
        await world.clock.advance(at - passed)
        passed = at
        await send()
      }
      await world.clock.advance(seconds(15))
      expect(world.watch.active()).toEqual([])
      expect([...labels]).toEqual(['label'])
      expect([['create'], ['create', 'remove', 'create']]).toContainEqual(log)
      await other.deprovision('app2')
      await world.clock.advance(seconds(15))
      expect([...labels]).toEqual([])
    },
  )

  it('Kyma 7696: a failed provision that heals answers its PUT with 200, while its last_operation stays failed', async () => {
    let ready = false
    const world = await makeWorld({
      service: {
        observeEvery: '1m',
        observe: async () => ({ ready }),
        async provision(ctx) {
          await ctx.saveState({ name: 'db-1' })
          throw Object.assign(new Error('no answer from the channel'), { status: 400 })
        },
      },
    })
    const [one, other] = [await world.bootReplica(), await world.bootReplica()]
    const operation = await one.provision('i')
    await world.clock.advance(minutes(2))
    expect(await other.poll('i', operation)).toMatchObject({ state: 'failed' })
    expect((await other.client.fetchInstance('i')).status).toBe(404)
    ready = true
    await world.clock.advance(minutes(2))
    expect((await other.client.provision('i', ids, incomplete)).status).toBe(200)
    expect((await one.client.fetchInstance('i')).status).toBe(200)
    expect(await one.poll('i', operation)).toMatchObject({ state: 'failed' })
  })

  it('Kyma 8180: a restart resumes what was interrupted, and nobody marks it failed', async () => {
    const world = await makeWorld({
      service: {
        async provision(ctx) {
          await ctx.step('apply', () => takes(world.clock, seconds(5)))
        },
      },
    })
    const first = await world.bootReplica()
    const names = ['a', 'b', 'c']
    const operations = await Promise.all(names.map(id => first.provision(id)))
    await world.clock.advance(seconds(1))
    first.crash()
    const second = await world.bootReplica()
    for (let round = 0; round < 12; round += 1) {
      await world.clock.advance(seconds(3))
      for (const [index, id] of names.entries())
        expect(['in progress', 'succeeded']).toContain((await second.poll(id, operations[index])).state)
    }
    await world.clock.advance(seconds(10))
    for (const [index, id] of names.entries())
      expect(await second.poll(id, operations[index])).toMatchObject({ state: 'succeeded' })
  })

  it('KEB 3299: what the old process accepts after the new one has started is done all the same', async () => {
    const world = await makeWorld({ service: {} })
    const old = await world.bootReplica()
    const young = await world.bootReplica()
    await world.clock.advance(minutes(3))
    const before = await old.provision('before')
    // Its socket is still open for a moment: the platform's request reaches it while its worker takes no more work.
    const stopped = old.stop()
    const after = await old.provision('after')
    await world.clock.advance(1)
    await stopped
    await world.clock.advance(seconds(2))
    expect(await young.poll('before', before)).toMatchObject({ state: 'succeeded' })
    expect(await young.poll('after', after)).toMatchObject({ state: 'succeeded' })
  })

  it("cloud-service-broker's restart: fails nobody's work, and loses nothing that an action had noted", async () => {
    const made: string[] = []
    const removed: unknown[] = []
    const world = await makeWorld({
      service: {
        async provision(ctx) {
          await ctx.step('apply', async () => {
            made.push(ctx.instance.id)
          })
          await ctx.saveState({ workspace: `tf-${ctx.instance.id}` })
          await ctx.step('wait', () => takes(world.clock, seconds(8)))
        },
        async deprovision(ctx) {
          await ctx.step('destroy', async () => void removed.push({ ...ctx.state }))
        },
      },
    })
    const restarting = await world.bootReplica()
    const own = await Promise.all(['a', 'b'].map(id => restarting.provision(id)))
    await world.clock.advance(seconds(2))
    const other = await world.bootReplica()
    const operations = [...own, ...(await Promise.all(['c', 'd'].map(id => other.provision(id))))]
    await world.clock.advance(seconds(2))
    expect(made.toSorted()).toEqual(['a', 'b', 'c', 'd'])
    restarting.crash()
    const restarted = await world.bootReplica()
    await world.clock.advance(seconds(60))
    for (const [index, id] of ['a', 'b', 'c', 'd'].entries())
      expect(await restarted.poll(id, operations[index])).toMatchObject({ state: 'succeeded' })
    // The checkpoint was there: nothing was applied a second time, whoever went on.
    expect(made).toHaveLength(4)
    for (const id of ['a', 'b', 'c', 'd']) await restarted.deprovision(id)
    await world.clock.advance(seconds(60))
    expect(new Set(removed)).toEqual(new Set(['a', 'b', 'c', 'd'].map(id => ({ workspace: `tf-${id}` }))))
  })

  it("pg-boss's zombie: a holder whose lease is over cannot complete what another does now", async () => {
    let release = () => {}
    const stall = new Promise<void>(resolve => {
      release = resolve
    })
    let stalled = false
    /** Its finish goes out only when the test lets it. */
    const slow = (store: Store): Store => ({
      ...store,
      renew: async () => new Promise(() => {}),
      finish: async (lease, decide) => {
        stalled = true
        await stall
        return store.finish(lease, decide)
      },
    })
    let runs = 0
    const world = await makeWorld({
      service: {
        async provision(ctx) {
          runs += 1
          if (runs === 2) await ctx.step('slowly', () => takes(world.clock, seconds(5)))
          return { state: { by: runs } }
        },
      },
    })
    const zombie = await world.bootReplica({ wrap: slow })
    const operation = await zombie.provision('i')
    await world.clock.advance(seconds(2))
    expect(stalled).toBe(true)
    const other = await world.bootReplica()
    await world.clock.advance(seconds(29))
    expect(runs).toBe(2)
    release()
    await world.clock.advance(1)
    expect(await other.poll('i', operation)).toMatchObject({ state: 'in progress' })
    await world.clock.advance(seconds(6))
    expect(await other.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect((await world.ledger.instance('i'))?.state).toEqual({ by: 2 })
    const ends = (await world.ledger.history('i')).filter(({ type }) => type === 'succeeded')
    expect(ends).toHaveLength(1)
  })
})
