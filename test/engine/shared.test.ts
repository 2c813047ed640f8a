import { describe, expect, it } from 'vitest'
import { TerminalError } from '../../src/index.ts'
import { createCrashableStore } from '../../src/testing/crash-points.ts'
import { createWorld, minutes, seconds, takes, type World } from './world.ts'

/** Instances that need the label of their namespace, which is made with the first of them and removed with the last. */
function createLabelWorld(latency: { create: readonly number[]; remove: readonly number[] }) {
  const log: string[] = []
  const labels = new Set<string>()
  const slow = async (kind: 'create' | 'remove', effect: () => void) => {
    const nth = log.filter(line => line === kind).length
    log.push(kind)
    await takes(world.clock, latency[kind][nth] ?? 500)
    effect()
  }
  const world: World = createWorld({
    service: {
      async provision(ctx) {
        await ctx.share('label', () => slow('create', () => void labels.add('label')))
      },
      async deprovision(ctx) {
        await ctx.unshare('label', () => slow('remove', () => void labels.delete('label')))
      },
    },
  })
  return { ...world, log, labels }
}

const quick = { create: [], remove: [] }

describe('shared resources', () => {
  it('that a late call has made after a deletion, which then failed, go with the next deletion', async () => {
    const labels = new Set<string>()
    let isBroken = true
    const world: World = createWorld({
      service: {
        async provision(ctx) {
          await ctx.share('label', async () => {
            await takes(world.clock, seconds(40))
            labels.add('label')
          })
        },
        async deprovision(ctx) {
          await ctx.unshare('label', () => void labels.delete('label'))
          if (isBroken) throw new TerminalError('not now')
        },
      },
    })
    const process = await world.boot()
    await process.provision('app')
    await world.clock.advance(seconds(2))
    await process.deprovision('app')
    await world.clock.advance(minutes(2))
    expect([...labels]).toEqual(['label'])
    isBroken = false
    await process.deprovision('app')
    await world.clock.advance(minutes(2))
    expect(world.watch.active()).toEqual([])
    expect([...labels]).toEqual([])
  })

  it('are created with the first and removed with the last', async () => {
    const world = createLabelWorld(quick)
    const process = await world.boot()
    for (const id of ['app1', 'app2']) await process.provision(id)
    await world.clock.advance(seconds(5))
    expect(world.log).toEqual(['create'])
    await process.deprovision('app1')
    await world.clock.advance(seconds(5))
    expect([world.log, [...world.labels]]).toEqual([['create'], ['label']])
    await process.deprovision('app2')
    await world.clock.advance(seconds(5))
    expect([world.log, [...world.labels]]).toEqual([['create', 'remove'], []])
  })

  it('6342: the deprovision of one application never takes the label from under the provision of another', async () => {
    for (let offset = -1_500; offset <= 1_500; offset += 100) {
      const world = createLabelWorld(quick)
      const process = await world.boot()
      await process.provision('app1')
      await world.clock.advance(seconds(5))
      const requests = [
        { at: Math.max(0, -offset), send: () => process.deprovision('app1') },
        { at: Math.max(0, offset), send: () => process.provision('app2') },
      ].toSorted((one, other) => one.at - other.at)
      let passed = 0
      for (const { at, send } of requests) {
        await world.clock.advance(at - passed)
        passed = at
        await send()
      }
      await world.clock.advance(minutes(1))
      expect(world.watch.active()).toEqual([])
      expect([offset, [...world.labels]]).toEqual([offset, ['label']])
      expect([['create'], ['create', 'remove', 'create']]).toContainEqual(world.log)
      await process.deprovision('app2')
      await world.clock.advance(minutes(1))
      expect([...world.labels]).toEqual([])
    }
  })

  it('a holder that crashes anywhere in the removal is waited for, and then it is done', async () => {
    for (let point = 1; ; point += 1) {
      const world = createLabelWorld(quick)
      const first = await world.boot()
      await first.provision('app1')
      await world.clock.advance(seconds(5))
      first.crash()
      const crashable = createCrashableStore(world.ledger)
      const doomed = await world.boot({ store: crashable.store })
      await world.clock.advance(seconds(1))
      await doomed.deprovision('app1')
      crashable.crashAt(crashable.passed() + point)
      await world.clock.advance(seconds(2))
      if (!crashable.isCrashed()) {
        expect(point).toBeGreaterThan(8)
        return
      }
      const second = await world.boot()
      const operation = await second.provision('app2')
      await world.clock.advance(minutes(2))
      expect(await second.poll('app2', operation)).toMatchObject({ state: 'succeeded' })
      expect(world.watch.active()).toEqual([])
      expect([...world.labels]).toEqual(['label'])
    }
  })

  it('what a late call of a superseded creation made is swept with the instance', async () => {
    const world = createLabelWorld({ create: [23_000], remove: [] })
    const process = await world.boot()
    await process.provision('app1')
    await world.clock.advance(seconds(1))
    const deletion = await process.deprovision('app1')
    await world.clock.advance(seconds(15))
    expect(await process.poll('app1', deletion)).toMatchObject({ state: 'succeeded' })
    expect([...world.labels]).toEqual([])
    await world.clock.advance(seconds(9))
    expect([...world.labels]).toEqual(['label'])
    await world.clock.advance(minutes(1))
    expect([...world.labels]).toEqual([])
  })

  it('a call of a removal that lands late finds nothing of the next one to remove', async () => {
    for (const lostAt of [14, 1]) {
      const world = createLabelWorld({ create: [], remove: [23_000, 500] })
      const first = await world.boot()
      await first.provision('app1')
      await world.clock.advance(seconds(5))
      const removal = await first.deprovision('app1')
      await world.clock.advance(seconds(lostAt))
      // Either the first call has timed out and the second one has done it, or the holder dies and another process does.
      if (lostAt === 1) first.crash()
      const second = await world.boot()
      const operation = await second.provision('app2')
      await world.clock.advance(minutes(3))
      expect(await second.poll('app1', removal)).toMatchObject({ state: 'succeeded' })
      expect(await second.poll('app2', operation)).toMatchObject({ state: 'succeeded' })
      expect([lostAt, [...world.labels]]).toEqual([lostAt, ['label']])
      await second.deprovision('app2')
      await world.clock.advance(minutes(2))
      expect([...world.labels]).toEqual([])
    }
  })

  it('a sweep leaves alone what a neighbour claims', async () => {
    const world = createLabelWorld({ create: [23_000], remove: [] })
    const process = await world.boot()
    await process.provision('app1')
    await world.clock.advance(seconds(1))
    await process.deprovision('app1')
    await world.clock.advance(seconds(15))
    const operation = await process.provision('app2')
    await world.clock.advance(minutes(2))
    expect(await process.poll('app2', operation)).toMatchObject({ state: 'succeeded' })
    expect([...world.labels]).toEqual(['label'])
    expect(world.watch.active()).toEqual([])
  })
})
