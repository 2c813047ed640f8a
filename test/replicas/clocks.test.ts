import { expect, it } from 'vitest'
import { ids, incomplete, minutes, seconds, takes } from '../engine/world.ts'
import { skewed } from './paced-clock.ts'
import { describeWorlds } from './worlds.ts'

const hour = minutes(60)

describeWorlds('replicas whose clocks are wrong by an hour', makeWorld => {
  it.each([
    ['ahead', hour, -hour],
    ['behind', -hour, hour],
  ])('a holder that is %s keeps its lease, and no other takes it', async (_, own, others) => {
    let runs = 0
    const world = await makeWorld({
      service: {
        async provision() {
          runs += 1
          await takes(world.clock, seconds(100))
        },
      },
    })
    const holder = await world.bootReplica({ clock: skewed(world.clock, own) })
    const operation = await holder.provision('i')
    await world.clock.advance(seconds(2))
    expect(runs).toBe(1)
    const accepted = await world.ledger.operation(operation)
    expect(accepted?.acceptedAt).toBe(world.clock.now() - seconds(2))
    for (const wrong of [others, 0]) await world.bootReplica({ clock: skewed(world.clock, wrong) })
    for (let round = 0; round < 9; round += 1) {
      await world.clock.advance(seconds(10))
      const { leaseUntil = 0 } = (await world.ledger.operation(operation)) ?? {}
      expect(leaseUntil).toBeGreaterThan(world.clock.now())
      expect(leaseUntil).toBeLessThanOrEqual(world.clock.now() + seconds(30))
    }
    await world.clock.advance(seconds(10))
    expect(await world.ledger.operation(operation)).toMatchObject({ state: 'succeeded', attempt: 1, losses: 0 })
    expect(runs).toBe(1)
  })

  it.each([
    ['ahead', hour, -hour],
    ['behind', -hour, hour],
  ])(
    'a lease of a holder that was %s ends when the ledger says so, not before and not later',
    async (_, own, other) => {
      const begun: number[] = []
      const world = await makeWorld({
        service: {
          async provision() {
            begun.push(world.clock.now())
            if (begun.length === 1) await takes(world.clock, minutes(30))
          },
        },
      })
      const holder = await world.bootReplica({ clock: skewed(world.clock, own) })
      const operation = await holder.provision('i')
      await world.clock.advance(seconds(5))
      const next = await world.bootReplica({ clock: skewed(world.clock, other) })
      holder.crash()
      const { leaseUntil = 0 } = (await world.ledger.operation(operation)) ?? {}
      await world.clock.advance(minutes(1))
      expect(begun).toHaveLength(2)
      const taken = begun[1] ?? 0
      expect(taken).toBeGreaterThanOrEqual(leaseUntil)
      expect(taken).toBeLessThanOrEqual(leaseUntil + seconds(1))
      expect(await next.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    },
  )

  it.each([hour, -hour])('back-off, deadlines and Retry-After go by the clock of the ledger (%i ms)', async wrong => {
    const begun: number[] = []
    const world = await makeWorld({
      service: {
        async provision(ctx) {
          begun.push(world.clock.now())
          return begun.length === 1 ? ctx.wait('20s', 'not yet') : undefined
        },
      },
      settings: { osb: { rememberDeleted: minutes(10) } },
    })
    const replica = await world.bootReplica({ clock: skewed(world.clock, wrong) })
    await world.clock.advance(seconds(2))
    const start = world.clock.now()
    const operation = await replica.provision('i')
    await world.clock.advance(seconds(1))
    const polled = await replica.client.lastOperation('i', { operation })
    expect(polled.body.state).toBe('in progress')
    expect(Number(polled.headers['retry-after'])).toBeGreaterThan(15)
    expect(Number(polled.headers['retry-after'])).toBeLessThanOrEqual(20)
    const row = await world.ledger.operation(operation)
    expect(row?.deadlineAt).toBe(start + hour)
    await world.clock.advance(seconds(22))
    expect(begun.map(time => Math.round((time - start) / 1000))).toEqual([0, 20])
    // Deleted an hour ago, by a wrong watch: still remembered.
    expect((await replica.client.deprovision('i', ids, incomplete)).status).toBe(202)
    await world.clock.advance(seconds(2))
    expect((await replica.client.lastOperation('i')).body.state).toBe('succeeded')
  })
})
