import { describe, expect, it } from 'vitest'
import { settleSweepFirst } from '../../src/domain/settle-sweep-first.ts'
import { turnOf } from '../../src/engine/sweep-first.ts'
import { silent } from '../../src/observer.ts'
import type { Claim } from '../../src/store.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { deleteInDoubt, type Given, subjects } from './reused-ids.ts'
import { createWorld, ids, incomplete, minutes, seconds } from './world.ts'

describe.each(Object.entries(subjects))('a PUT on the id of an %s whose deletion is being swept', (_name, subject) => {
  const { id } = subject

  const deletedInDoubt = (given: Given = {}) => deleteInDoubt(subject, createWorld, given)

  it('is accepted, says what it waits for, and begins when the sweep has ended', async () => {
    const { process, clock, log, things, deletion, ledger } = await deletedInDoubt()
    const creation = await subject.put(process, 'new')
    expect(await subject.put(process, 'new')).toBe(creation)
    expect(await subject.poll(process, creation)).toMatchObject({
      state: 'in progress',
      description: 'waiting until what was deleted under this id is surely gone',
    })
    expect(await subject.poll(process, deletion)).toMatchObject({ state: 'succeeded' })
    expect(await subject.poll(process)).toMatchObject({ state: 'in progress' })
    await clock.advance(seconds(40))
    expect(log().filter(line => line.includes('create'))).toHaveLength(1)
    await clock.advance(seconds(40))
    expect(await subject.poll(process, creation)).toMatchObject({ state: 'succeeded' })
    expect(await subject.poll(process, deletion)).toMatchObject({ state: 'succeeded' })
    // The sweep knows what it deletes, and the creation knows nothing of that.
    expect(log()).toEqual([
      `1 create ${id}`,
      `2 delete ${id} old`,
      `3 delete ${id} old`,
      `27 late delete ${id}`,
      `63 delete ${id} old`,
      `63 create ${id}`,
    ])
    expect(things.has(id)).toBe(true)
    const row = await ledger.operation(creation)
    expect(row).toMatchObject({ state: 'succeeded', attempt: 1, unclean: false })
    expect(row?.input).not.toHaveProperty('sweepFirst')
    await subject.delete(process)
    await clock.advance(minutes(2))
    expect(log().at(-1)).toBe(`85 delete ${id} new`)
    expect(things.has(id)).toBe(false)
  })

  it('is refused where the request would have to wait', async () => {
    const { process, clock } = await deletedInDoubt()
    const early = subject.putRaw(process, {})
    await clock.advance(minutes(2))
    expect(await early).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } })
    const answer = subject.putRaw(process, {})
    await clock.advance(seconds(1))
    expect((await answer).status).toBe(201)
  })

  it.each([
    { lost: [1, 3], slow: [] },
    { lost: [1, 3, 4], slow: [] },
    { lost: [1], slow: [3] },
  ])('takes over from a sweep that has begun, and sweeps once more when its last call has landed: %o', async given => {
    const { process, clock, log, things } = await deletedInDoubt(given)
    await clock.advance(seconds(58.5))
    expect(log().at(-1)).toBe(`63 delete ${id} old`)
    const creation = await subject.put(process)
    await clock.advance(minutes(5))
    expect(await subject.poll(process, creation)).toMatchObject({ state: 'succeeded' })
    expect(log().filter(line => line.includes('late'))).toHaveLength(given.lost.length + given.slow.length)
    expect(log().findLastIndex(line => line.includes('late'))).toBeLessThan(log().length - 2)
    expect(log().at(-1)).toMatch(/ create /)
    expect(things.has(id)).toBe(true)
  })

  it('sweeps once more when its own sweep has lost a call', async () => {
    const { process, clock, log, things, watch } = await deletedInDoubt({ lost: [1, 3] })
    const creation = await subject.put(process)
    await clock.advance(minutes(5))
    expect(await subject.poll(process, creation)).toMatchObject({ state: 'succeeded' })
    expect(log().slice(-5)).toEqual([
      `63 delete ${id} old`,
      `64 delete ${id} old`,
      `88 late delete ${id}`,
      `124 delete ${id} old`,
      `124 create ${id}`,
    ])
    expect(things.has(id)).toBe(true)
    expect(watch.active()).toEqual([])
  })

  it('begins after a sweep that failed for good, when nothing of it can land any more', async () => {
    const { process, clock, log, watch } = await deletedInDoubt({ lost: [1, 3], refused: [4] })
    const creation = await subject.put(process)
    await clock.advance(minutes(5))
    expect(await subject.poll(process, creation)).toMatchObject({ state: 'succeeded' })
    expect(log().slice(-3)).toEqual([`64 delete ${id} old`, `88 late delete ${id}`, `124 create ${id}`])
    expect([...watch.operations().values()].filter(({ action }) => action === 'sweep')).toMatchObject([
      { state: 'superseded' },
      { state: 'failed' },
    ])
  })

  it.each([1, 58, 60, 62])('goes on after a crash %i s later', async at => {
    const { process, boot, clock, log, things, watch } = await deletedInDoubt({ lost: [1, 3] })
    const creation = await subject.put(process)
    await clock.advance(seconds(at))
    process.crash()
    const next = await boot()
    await clock.advance(minutes(10))
    expect(await subject.poll(next, creation)).toMatchObject({ state: 'succeeded' })
    expect(watch.active()).toEqual([])
    expect(things.has(id)).toBe(true)
    expect(log().at(-1)).toMatch(/ create /)
  })

  it.each([10, 59.5, 62])('a DELETE of it %s s later is done at once, and the sweep goes on', async at => {
    const { process, clock, log, things, deletion, watch } = await deletedInDoubt({ lost: [1, 3] })
    const creation = await subject.put(process)
    await clock.advance(seconds(at))
    expect((await subject.deleteRaw(process)).status).toBe(200)
    expect((await subject.deleteRaw(process)).status).toBe(410)
    expect(await subject.poll(process, creation)).toMatchObject({ state: 'failed' })
    expect(await subject.poll(process, deletion)).toMatchObject({ state: 'succeeded' })
    expect(await subject.poll(process)).toMatchObject({ state: 'succeeded' })
    await clock.advance(minutes(5))
    expect(log().filter(line => line.includes('create'))).toHaveLength(1)
    expect(log().at(-1)).toMatch(new RegExp(`delete ${id} old$`))
    expect(watch.active()).toEqual([])
    expect(things.has(id)).toBe(false)
    await subject.put(process)
    await clock.advance(seconds(1))
    expect(things.has(id)).toBe(true)
  })

  it('a DELETE and a PUT again in between: each PUT waits, and the sweep is done before the last one', async () => {
    const { process, clock, log } = await deletedInDoubt()
    await subject.put(process)
    await subject.deleteRaw(process)
    const creation = await subject.put(process)
    await clock.advance(minutes(2))
    expect(await subject.poll(process, creation)).toMatchObject({ state: 'succeeded' })
    expect(log().slice(-2)).toEqual([`63 delete ${id} old`, `63 create ${id}`])
  })

  it('has as much time as ever for its own work', async () => {
    const brief = { timeout: '20s' } as const
    const { process, clock } = await deletedInDoubt({ service: { actions: { provision: brief, bind: brief } } })
    const creation = await subject.put(process)
    await clock.advance(minutes(2))
    expect(await subject.poll(process, creation)).toMatchObject({ state: 'succeeded' })
  })

  it('fails with its own deadline, and leaves the id as it was', async () => {
    const plans = [{ id: 'plan', name: 'plan', description: 'The plan', maximumPollingDuration: 40 }]
    const { process, clock, log, deletion, watch } = await deletedInDoubt({ service: { plans } })
    const creation = await subject.put(process)
    await clock.advance(seconds(25))
    for (const operation of [creation, undefined])
      expect(await subject.poll(process, operation)).toMatchObject({
        state: 'failed',
        description: expect.stringContaining('waiting until what was deleted under this id is surely gone'),
      })
    expect(await subject.poll(process, deletion)).toMatchObject({ state: 'succeeded' })
    expect((await subject.deleteRaw(process)).status).toBe(410)
    await clock.advance(minutes(2))
    expect(log().at(-1)).toBe(`63 delete ${id} old`)
    expect(watch.active()).toEqual([])
    const again = await subject.put(process)
    await clock.advance(seconds(1))
    expect(await subject.poll(process, again)).toMatchObject({ state: 'succeeded' })
  })

  it('fails with its own deadline in the middle of the sweep, which goes on alone', async () => {
    const plans = [{ id: 'plan', name: 'plan', description: 'The plan', maximumPollingDuration: 140 }]
    const { process, clock, log, things, watch } = await deletedInDoubt({ service: { plans }, slow: [3] })
    const creation = await subject.put(process)
    await clock.advance(seconds(79.5))
    expect(log().at(-1)).toBe(`63 delete ${id} old`)
    await clock.advance(seconds(1))
    expect(await subject.poll(process, creation)).toMatchObject({ state: 'failed' })
    expect(watch.active()).toMatchObject([{ action: 'sweep' }])
    await clock.advance(minutes(5))
    expect(watch.active()).toEqual([])
    expect(log().slice(-3)).toEqual([`85 delete ${id} old`, `88 late delete ${id}`, `145 delete ${id} old`])
    expect(things.has(id)).toBe(false)
  })

  it('fails with its own deadline when nobody knows the service any more, and the sweep waits for somebody who does', async () => {
    const plans = [{ id: 'plan', name: 'plan', description: 'The plan', maximumPollingDuration: 40 }]
    const { process, boot, clock, log, watch } = await deletedInDoubt({ service: { plans } })
    const creation = await subject.put(process)
    process.crash()
    const stranger = await boot({ service: { id: 'another' } })
    await clock.advance(seconds(30))
    expect(watch.operations().get(creation)).toMatchObject({ state: 'failed' })
    expect(watch.active()).toMatchObject([{ action: 'sweep', id: `${creation}-sweep` }])
    stranger.crash()
    await boot()
    await clock.advance(minutes(3))
    expect(log().at(-1)).toMatch(new RegExp(` delete ${id} old$`))
    expect(watch.active()).toEqual([])
  })

  it('is refused or waits, too, after a sweep that failed for good while a call of it may still land', async () => {
    const { process, clock, log, watch, things } = await deletedInDoubt({ lost: [1, 3], refused: [4] })
    await clock.advance(seconds(62))
    expect(watch.active()).toEqual([])
    expect((await subject.putRaw(process, {})).status).toBe(422)
    const creation = await subject.put(process)
    await clock.advance(minutes(2))
    expect(await subject.poll(process, creation)).toMatchObject({ state: 'succeeded' })
    expect(log().slice(-2)).toEqual([`88 late delete ${id}`, `124 create ${id}`])
    expect(things.has(id)).toBe(true)
  })
})

describe('a PUT on an id whose deletion is being swept', () => {
  it('fails with its deadline where that comes before the last call of a failed sweep can land', async () => {
    const plans = [{ id: 'plan', name: 'plan', description: 'The plan', maximumPollingDuration: 40 }]
    const given = { lost: [1, 3], refused: [4], service: { plans } }
    const { process, clock, log } = await deleteInDoubt(subjects.instance, createWorld, given)
    await clock.advance(seconds(62))
    const creation = await subjects.instance.put(process)
    await clock.advance(seconds(25))
    expect(await process.poll('i', creation)).toMatchObject({ state: 'failed' })
    await clock.advance(minutes(2))
    expect(log().filter(line => line.includes('create'))).toHaveLength(1)
  })

  it('keeps what the deletion saves from one run of the sweep to the next, whatever it says of itself', async () => {
    const seen: unknown[] = []
    let calls = 0
    let goal = 2
    const world = createWorld({
      service: {
        callTimeout: '30s',
        provision: async ctx => ({ state: { of: ctx.operation.id } }),
        async deprovision(ctx) {
          seen.push(ctx.state.job)
          await ctx.step('begin', () => {
            calls += 1
            if (calls === 1) throw new Error('no answer')
          })
          if (ctx.state.job === goal) return undefined
          ctx.describe('not for those who poll the creation')
          await ctx.saveState({ job: Number(ctx.state.job ?? 0) + 1 })
          return ctx.wait('5s', 'the job runs')
        },
      },
    })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    await process.deprovision('i')
    await world.clock.advance(seconds(15))
    expect(seen).toEqual([undefined, undefined, 1, 2])
    goal = 4
    const creation = await process.provision('i')
    await world.clock.advance(seconds(62))
    expect(seen.at(-1)).toBe(3)
    const description = 'waiting until what was deleted under this id is surely gone'
    expect(await process.poll('i', creation)).toMatchObject({ state: 'in progress', description })
    await world.clock.advance(seconds(10))
    expect(await process.poll('i', creation)).toMatchObject({ state: 'succeeded' })
    expect(seen).toEqual([undefined, undefined, 1, 2, 2, 3, 4])
    expect((await world.ledger.instance('i'))?.state).toEqual({ of: creation })
  })

  it('lets no stale holder end the sweep', async () => {
    const clock = createVirtualClock()
    const { process, ledger } = await deleteInDoubt(subjects.instance, options => createWorld({ ...options, clock }))
    const creation = await subjects.instance.put(process)
    process.crash()
    await clock.advance(minutes(2))
    const [stale] = (await ledger.claim('one', 1, 1000)).claims
    await clock.advance(seconds(2))
    const [claim] = (await ledger.claim('other', 1, 1000)).claims
    if (stale === undefined || claim === undefined) throw new Error('nothing was due')
    expect([stale.operation.id, claim.operation.id]).toEqual([creation, creation])
    const tools = { store: ledger, clock, random: () => 1, observer: silent }
    const end = (of: Claim) =>
      turnOf(of, tools, clock.now()).tools.store.finish(
        { operationId: of.operation.id, fence: of.operation.fence },
        snapshot =>
          settleSweepFirst(
            snapshot,
            { kind: 'succeeded', result: {} },
            { sweepDelay: 0, sweepTimeout: 0, sweepOperationId: 's' },
          ),
      )
    expect(await end(stale)).toBe(false)
    expect((await ledger.operation(creation))?.input.sweepFirst).toBeDefined()
    expect(await end(claim)).toBe(true)
    expect(await end(claim)).toBe(false)
  })

  it('of another platform is refused until the sweep has ended', async () => {
    const settings = { osb: { prefixes: ['other'] } }
    const { process, clock } = await deleteInDoubt(subjects.instance, createWorld, { settings })
    const other = process.createClient({ url: `${process.url}/other` })
    expect(await other.provision('i', ids, incomplete)).toMatchObject({
      status: 422,
      body: { error: 'ConcurrencyError' },
    })
    await clock.advance(minutes(2))
    expect((await other.provision('i', ids, incomplete)).status).toBe(202)
  })
})
