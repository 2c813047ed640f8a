import { describe, expect, it } from 'vitest'
import { type ObserveResult, type Service, sensitive, TerminalError } from '../../src/index.ts'
import { createWorld, incomplete, minutes, seconds, takes } from './world.ts'

type ObserveContext = Parameters<NonNullable<Service['observe']>>[0]

/** A service that makes one thing for each binding, and makes it again whenever it looks; a test says how long that takes. */
function createHealingWorld(more: Partial<Service> = {}) {
  const things = new Set<string>()
  const began: string[] = []
  /** What becomes of the next look's calls. */
  const healing = { takes: 0, late: 0, until: Promise.resolve() as Promise<unknown> }
  const world = createWorld({
    settings: { osb: { cascadeDelete: true } },
    service: {
      observeEvery: '1m',
      callTimeout: '10s',
      async bind(ctx) {
        if (ctx.parameters.fails === true) throw new TerminalError('No.')
        await ctx.step('grant', () => things.add(ctx.binding.id).size)
        return {
          credentials: { key: `key-of-${ctx.binding.id}` },
          state: { password: sensitive(`pw-${ctx.binding.id}`) as unknown as string },
        }
      },
      async unbind(ctx) {
        began.push(ctx.binding.id)
        await ctx.step('revoke', () => things.delete(ctx.binding.id))
      },
      async observe(ctx): Promise<ObserveResult> {
        for (const { binding } of await ctx.bindings())
          await ctx.step(`heal ${binding.id}`, async () => {
            if (healing.late > 0) {
              // No answer comes, and the call lands all the same.
              void takes(world.clock, healing.late).then(() => things.add(binding.id))
              throw new Error('no answer')
            }
            await healing.until
            await takes(world.clock, healing.takes)
            things.add(binding.id)
          })
        return { ready: true }
      },
      ...more,
    },
  })
  /** An instance with two bindings that is being looked at, by the process that is answered. */
  const observed = async (bindings = ['one', 'two']) => {
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    for (const id of bindings) await process.bind('i', id)
    await world.clock.advance(seconds(1))
    return process
  }
  const observing = () =>
    until(async () => (await world.ledger.listOperations({ action: 'observe', state: 'running' })).items[0])
  async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
    for (let second = 0; second < 300; second += 1) {
      const found = await look()
      if (found !== undefined) return found
      await world.clock.advance(seconds(1))
    }
    throw new Error('it never came')
  }
  return { ...world, things, began, healing, observed, observing, until }
}

describe('bindings in an observation', () => {
  it('are those that are ready, with what their bind was given and has left', async () => {
    let seen: unknown
    const world = createHealingWorld({
      async observe(ctx: ObserveContext) {
        const bindings = await ctx.bindings()
        seen = bindings.map(({ binding, parameters, bindingState }) => ({
          ...{ id: binding.id, appGuid: binding.appGuid, parameters },
          password: (bindingState.password as unknown as { reveal(): string }).reveal(),
        }))
        const { id } = bindings[0]?.binding ?? {}
        return { ready: false, message: `cannot use pw-${id} and key-of-${id}.` }
      },
    })
    const process = await world.observed(['one'])
    const body = { service_id: 'service', plan_id: 'plan', app_guid: 'app', parameters: { size: 1 } }
    await process.client.bind('i', 'two', body, incomplete)
    await process.client.bind('i', 'broken', { ...body, parameters: { fails: true } }, incomplete)
    await world.clock.advance(minutes(2))
    expect(seen).toEqual([
      { id: 'one', appGuid: undefined, parameters: {}, password: 'pw-one' },
      { id: 'two', appGuid: 'app', parameters: { size: 1 }, password: 'pw-two' },
    ])
    const [condition] = (await world.ledger.instance('i'))?.conditions ?? []
    expect(condition?.message).toMatch(/^cannot use \S+ and \S+\.$/)
    expect(condition?.message).not.toMatch(/pw-|key-of-/)
  })

  it('are told to no other action', async () => {
    const told: unknown[] = []
    const world = createHealingWorld({ deprovision: async ctx => void told.push((ctx as ObserveContext).bindings) })
    const process = await world.observed([])
    await process.deprovision('i')
    await world.clock.advance(seconds(5))
    expect(told).toEqual([undefined])
  })

  it('can be healed', async () => {
    const world = createHealingWorld()
    await world.observed(['one'])
    world.things.clear()
    await world.clock.advance(minutes(2))
    expect([...world.things]).toEqual(['one'])
  })
})

describe('an unbind during an observation', () => {
  it('begins when the observation has stopped, and the observation comes again', async () => {
    const world = createHealingWorld()
    const process = await world.observed()
    let release = () => {}
    world.healing.until = new Promise<void>(resolve => {
      release = resolve
    })
    const { id } = await world.observing()
    const first = await process.unbind('i', 'one')
    await world.clock.advance(seconds(2))
    expect(world.began).toEqual([])
    expect(await process.pollBinding('i', 'one', first)).toMatchObject({ state: 'in progress' })
    // Another one does not overtake it either, though nothing is there any more that it could take over from.
    const second = await process.unbind('i', 'two')
    await world.clock.advance(seconds(2))
    expect(world.began).toEqual([])
    expect((await world.ledger.operation(id))?.state).toBe('superseded')
    release()
    world.healing.until = Promise.resolve()
    await world.clock.advance(seconds(5))
    expect(world.began.toSorted()).toEqual(['one', 'two'])
    for (const [binding, operation] of [
      ['one', first],
      ['two', second],
    ] as const)
      expect(await process.pollBinding('i', binding, operation)).toMatchObject({ state: 'succeeded' })
    await world.clock.advance(minutes(2))
    expect([...world.things]).toEqual([])
    expect((await world.ledger.instance('i'))?.conditions).toMatchObject([{ type: 'Ready', status: true }])
  })

  it('and one that nobody will end: a process that dies holds it no longer than its lease', async () => {
    const world = createHealingWorld()
    const heir = await heirOfObserver(world)
    const first = await heir.unbind('i', 'one')
    const second = await heir.unbind('i', 'two')
    await world.clock.advance(seconds(20))
    expect(world.began).toEqual([])
    await world.clock.advance(seconds(30))
    for (const [binding, operation] of [
      ['one', first],
      ['two', second],
    ] as const)
      expect(await heir.pollBinding('i', binding, operation)).toMatchObject({ state: 'succeeded' })
    await world.clock.advance(minutes(2))
    expect([...world.things]).toEqual([])
  })

  it.each(['superseded', 'ended'] as const)('a call of it that lands late is swept, where it was %s', async how => {
    const world = createHealingWorld()
    const process = await world.observed(['one'])
    if (how === 'superseded') {
      world.healing.takes = seconds(15)
      await world.observing()
    } else {
      world.healing.late = seconds(15)
      await world.until(async () =>
        (await world.ledger.instance('i'))?.conditions.find(({ reason }) => reason === 'ObservationFailed'),
      )
    }
    Object.assign(world.healing, { takes: 0, late: 0 })
    const operation = await process.unbind('i', 'one')
    await world.until(async () => (await process.pollBinding('i', 'one', operation)).state === 'succeeded' || undefined)
    world.things.add('one')
    await world.clock.advance(minutes(2))
    expect([...world.things]).toEqual([])
    expect((await world.ledger.binding('i', 'one'))?.phase).toBe('deleted')
  })

  it('a deprovision that takes bindings along sweeps them, too', async () => {
    const world = createHealingWorld()
    const heir = await heirOfObserver(world)
    const operation = await heir.deprovision('i')
    await world.clock.advance(seconds(40))
    expect(await heir.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    // The call that had no answer lands.
    world.things.add('one').add('two')
    await world.clock.advance(minutes(2))
    expect([...world.things]).toEqual([])
  })
})

/** Another process, after one that has died in the middle of an observation. */
async function heirOfObserver(world: ReturnType<typeof createHealingWorld>) {
  const process = await world.observed()
  world.healing.until = new Promise(() => {})
  await world.observing()
  process.crash()
  world.healing.until = Promise.resolve()
  return world.boot()
}
