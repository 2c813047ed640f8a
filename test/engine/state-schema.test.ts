import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineService, type Service } from '../../src/index.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { createWorld, seconds } from './world.ts'

/** What an older release has left. */
const old = { title: 'x' }

describe('a state with a schema', () => {
  it.each<[object, string]>([
    [{ state: { type: 'objekt' } }, 'service "service": "state" is not a valid JSON Schema: '],
    [{ bindingState: { type: 'objekt' } }, 'service "service": "bindingState" is not a valid JSON Schema: '],
    [{ state: 5 }, 'service "service": "state" must be a JSON Schema, or a schema of a validation library, but is 5'],
  ])('is checked with the definition: %j', async (service, problem) => {
    await expect(createWorld({ service }).boot()).rejects.toThrow(problem)
  })

  it('is checked where it is returned', async () => {
    const { ended } = await run(() => ({ state: { name: 7 } }) as never)
    expect(await ended).toMatchObject({
      state: 'failed',
      description: expect.stringContaining(
        'The returned state does not fit the schema of the service service: state.name: Invalid input: expected string',
      ),
    })
  })

  it('is not called parameters where a field of it is not known', async () => {
    const state = { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: false }
    const world = createWorld({ service: { state, provision: () => ({ state: { b: 1 } }) as never } })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect((await process.poll('i', operation)).description).toContain('service: state.b: is not a known field.')
  })

  it('must be there in the end: returned, or saved on the way', async () => {
    expect(await (await run(() => {})).ended).toMatchObject({ state: 'failed' })
    const saved = await run(async ctx => {
      await ctx.saveState({ name: 'x' })
    })
    expect(await saved.ended).toMatchObject({ state: 'succeeded' })
  })

  it('comes back with its defaults, and converted', async () => {
    const seen: unknown[] = []
    const { process, clock } = await run(() => ({ state: { name: 'x' } }), {
      update: ctx => void seen.push(ctx.state),
      observe: ctx => {
        seen.push(ctx.state)
        return { ready: true }
      },
    })
    await clock.advance(1)
    await process.update('i', {})
    await clock.advance(1)
    expect(seen).toEqual([{ name: 'x', size: 1 }])
  })

  it('of an older release is upgraded', async () => {
    const seen: unknown[] = []
    const { process, clock, store } = await run(() => ({ state: old }), { state: undefined })
    await clock.advance(1)
    process.crash()
    const upgraded = await boot(store, clock, {
      upgradeState: found => ({ name: `${found.title}!` }),
      async update(ctx) {
        seen.push(ctx.state)
        await ctx.saveState({ size: 5 })
        seen.push(ctx.state)
      },
      deprovision: ctx => void seen.push(ctx.state),
    })
    await upgraded.update('i', {})
    await clock.advance(seconds(40))
    await upgraded.deprovision('i')
    await clock.advance(1)
    expect(seen).toEqual([
      { name: 'x!', size: 1 },
      { name: 'x!', size: 5 },
      { name: 'x!', size: 1 },
    ])
  })

  it.each<[string, Partial<Service>, string]>([
    ['no upgrade', {}, 'does not fit the schema of the service service: state.name: Invalid input'],
    ['a wrong upgrade', { upgradeState: () => ({ name: 5 }) as never }, 'The upgraded state does not fit'],
    ['an upgrade without JSON', { upgradeState: () => ({ name: 5n }) as never }, 'state.name is a BigInt'],
  ])('that cannot be upgraded fails the action and names the field: %s', async (_, service, description) => {
    const { process, clock, store } = await run(() => ({ state: old }), { state: undefined })
    await clock.advance(1)
    process.crash()
    const seen: unknown[] = []
    const upgraded = await boot(store, clock, {
      ...service,
      update: () => void seen.push('never'),
      deprovision: ctx => void seen.push(ctx.state),
    })
    const update = await upgraded.update('i', {})
    await clock.advance(seconds(40))
    expect(await upgraded.poll('i', update)).toMatchObject({
      state: 'failed',
      description: expect.stringContaining(description),
    })
    // A deletion goes on with what there is.
    const deletion = await upgraded.deprovision('i')
    await clock.advance(1)
    expect(await upgraded.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    expect(seen).toEqual([old])
  })
})

describe('a state of bindings with a schema', () => {
  it('is checked, and upgraded for the unbind', async () => {
    const seen: unknown[] = []
    const bindable: Partial<Service> = {
      bind: () => ({ credentials: {}, state: { user: 'u' } }),
      unbind: ctx => void seen.push(ctx.bindingState),
    }
    const { process, clock, store } = await run(() => ({ state: { name: 'x' } }), bindable)
    await clock.advance(1)
    await process.bind('i', 'b')
    await clock.advance(1)
    process.crash()
    const upgraded = await boot(store, clock, {
      ...bindable,
      bindingState: { type: 'object', properties: { role: { type: 'string' } }, required: ['role'] },
      upgradeBindingState: ({ user }) => ({ role: String(user) }),
    })
    const second = await upgraded.bind('i', 'c')
    await clock.advance(seconds(40))
    // The first JSON Schema loads its compiler, in real time.
    await vi.waitFor(async () =>
      expect(await upgraded.pollBinding('i', 'c', second)).toMatchObject({
        state: 'failed',
        description: expect.stringContaining('bindingState.role: is required'),
      }),
    )
    await upgraded.unbind('i', 'b')
    await clock.advance(1)
    expect(seen).toContainEqual({ role: 'u' })
  })
})

const typed = defineService({
  id: 'typed',
  state: z.object({ name: z.string(), size: z.number().default(1) }),
  provision: () => ({ state: { name: 'x' } }),
  deprovision() {},
})

async function run(provision: Service['provision'], service: Partial<Service> = {}) {
  const clock = createVirtualClock()
  const store = createMemoryStore({ clock })
  const process = await boot(store, clock, { provision, ...service })
  const operation = await process.provision('i')
  const ended = clock.advance(1).then(() => process.poll('i', operation))
  return { process, clock, store, ended }
}

function boot(
  store: ReturnType<typeof createMemoryStore>,
  clock: ReturnType<typeof createVirtualClock>,
  service: Partial<Service>,
) {
  return createWorld({ service: { state: typed.state, ...service }, store, clock }).boot()
}
