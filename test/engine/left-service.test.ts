import { describe, expect, it } from 'vitest'
import type { ActionContext } from '../../src/index.ts'
import type { Observer } from '../../src/observer.ts'
import { ScriptedRegistry, startWorld } from '../sync/world.ts'
import { createWorld, ids, incomplete, minutes, seconds, serviceOf, type World } from './world.ts'

const putBack =
  'The service "service" has left this broker, and the instance still needs it. The operator of the broker has to put it back into the code or the catalog; then repeat the request.'
const empty: Observer = {}
const other = { ...serviceOf({}), id: 'other', name: 'other', plans: [{ id: 'p', name: 'p', description: 'p' }] }

/** The same ledger and the same time, after a release without the service. */
function withoutService({ ledger, clock }: World, observer = empty): World {
  return createWorld({ store: ledger, clock, observer, services: [other], service: {} })
}

async function createBound() {
  const gone: string[] = []
  const world = createWorld({
    service: {
      bind: async () => ({ credentials: {} }),
      unbind: async ctx => void gone.push(ctx.binding.id),
      deprovision: async ctx => void gone.push(ctx.instance.id),
      update: async () => {},
    },
  })
  const process = await world.boot()
  await process.provision('i')
  await world.clock.advance(seconds(1))
  await process.bind('i', 'b')
  await world.clock.advance(seconds(1))
  return { world, process, gone }
}

describe('a service that left the code while the ledger has an instance of it', () => {
  it('is asked for by deletions that say what to do, and that platforms repeat; put back, they work', async () => {
    const { world, process, gone } = await createBound()
    await process.stop()
    const { client, stop } = await withoutService(world).boot()
    const left = { status: 503, body: { error: 'ServiceLeft', description: putBack } }
    expect(await client.unbind('i', 'b', ids, incomplete)).toMatchObject(left)
    expect(await client.deprovision('i', ids, incomplete)).toMatchObject({ body: { error: 'BindingsExist' } })
    expect(await client.fetchInstance('i')).toMatchObject(left)
    expect(await client.fetchBinding('i', 'b')).toMatchObject(left)
    await stop()
    const back = await world.boot()
    await back.unbind('i', 'b')
    await world.clock.advance(seconds(1))
    await back.stop()
    const again = await withoutService(world).boot()
    expect(await again.client.deprovision('i', ids, incomplete)).toMatchObject(left)
    expect((await again.poll('i')).state).toBe('succeeded')
    await again.stop()
    const last = await world.boot()
    await last.deprovision('i')
    await world.clock.advance(seconds(1))
    expect(gone).toEqual(['b', 'i'])
  })

  it('is refused, and not an orphan, where something new is asked for', async () => {
    const { world, process } = await createBound()
    await process.stop()
    const { client } = await withoutService(world).boot()
    const refused = { status: 400, body: { error: 'UnknownService', description: putBack } }
    expect(await client.update('i', { service_id: 'service', parameters: { a: 'b' } }, incomplete)).toMatchObject(
      refused,
    )
    expect(await client.update('i', { ...ids, parameters: { a: 'b' } }, incomplete)).toMatchObject(refused)
    expect(await client.bind('i', 'c', ids, incomplete)).toMatchObject(refused)
    expect(await client.provision('i', ids, incomplete)).toMatchObject(refused)
    // Nothing of it is there: what is deleted is gone, whoever had it.
    expect(await client.deprovision('never', ids, incomplete)).toMatchObject({ status: 410 })
    expect(await client.unbind('i', 'never', ids, incomplete)).toMatchObject({ status: 410 })
    const unknown = { status: 400, body: { description: 'service_id is not in the catalog of this broker.' } }
    expect(await client.provision('never', ids, incomplete)).toMatchObject(unknown)
    expect(await client.bind('never', 'c', ids, incomplete)).toMatchObject(unknown)
  })

  it('does not keep an operation that was accepted before from ending, and its end says what to do', async () => {
    const world = createWorld({
      service: { actions: { deprovision: { timeout: '10m' } }, deprovision: async ctx => ctx.wait('1m', 'draining') },
    })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    const operation = await process.deprovision('i')
    await world.clock.advance(seconds(1))
    await process.stop()
    const after = await withoutService(world).boot()
    await world.clock.advance(minutes(5))
    expect(await after.poll('i', operation)).toEqual({
      state: 'in progress',
      description: 'waiting for a broker that has the service',
    })
    // The repeated request gets the operation that there is.
    expect((await after.client.deprovision('i', ids, incomplete)).body).toEqual({ operation })
    await world.clock.advance(minutes(5))
    expect(await after.poll('i', operation)).toEqual({
      state: 'failed',
      description: `The deprovision did not end within 10 minutes. ${putBack}`,
    })
    expect(await after.client.deprovision('i', ids, incomplete)).toMatchObject({ status: 503 })
  })

  it('is told of at the start, with the number of its instances; so is a plan', async () => {
    const told: unknown[] = []
    const observer: Observer = { 'catalog.incomplete': event => told.push(event) }
    const two = [
      { id: 'plan', name: 'plan', description: 'The plan' },
      { id: 'old', name: 'old', description: 'The old plan' },
    ]
    const provision = async (ctx: ActionContext) =>
      ctx.instance.id === 'slow' ? ctx.wait('1h', 'not made yet') : undefined
    const world = createWorld({ service: { plans: two, provision }, observer })
    const process = await world.boot()
    for (const id of ['a', 'b', 'c', 'slow']) await process.provision(id)
    await process.client.provision('d', { ...ids, plan_id: 'old' }, incomplete)
    await world.clock.advance(seconds(1))
    await process.deprovision('c')
    await world.clock.advance(seconds(1))
    await process.stop()
    await world.boot()
    await world.clock.advance(seconds(1))
    expect(told).toEqual([])
    await createWorld({ store: world.ledger, clock: world.clock, service: {}, observer }).boot()
    await world.clock.advance(seconds(1))
    expect(told.splice(0)).toEqual([{ missing: [{ serviceId: 'service', planId: 'old', instances: 1 }], more: 0 }])
    await withoutService(world, observer).boot()
    await world.clock.advance(seconds(1))
    expect(told).toEqual([{ missing: [{ serviceId: 'service', instances: 4 }], more: 0 }])
  })

  it('is not told of without end', async () => {
    const told: { readonly missing: readonly unknown[]; readonly more: number }[] = []
    const services = Array.from({ length: 30 }, (_, index) => ({
      ...serviceOf({}),
      id: `s${index}`,
      name: `s${index}`,
      plans: [{ id: `p${index}`, name: 'p', description: 'p' }],
    }))
    const world = createWorld({ services, service: {} })
    const process = await world.boot()
    for (const { id, plans } of services)
      await process.client.provision(id, { service_id: id, plan_id: plans[0]?.id ?? '' }, incomplete)
    await world.clock.advance(seconds(1))
    await withoutService(world, { 'catalog.incomplete': event => told.push(event) }).boot()
    await world.clock.advance(seconds(1))
    expect(told.map(({ missing, more }) => [missing.length, more])).toEqual([[20, 10]])
  })
})

describe('where registries may offer services too, a service that left the code', () => {
  it.each(['deprovision', 'update', 'unbind', 'bind'] as const)('is never taken for done: %s', async action => {
    const pause = async (ctx: ActionContext) => ctx.wait('1m', 'at work')
    const world = createWorld({
      service: {
        update: pause,
        deprovision: pause,
        unbind: pause,
        bind: async ctx => (ctx.binding.id === 'b' ? { credentials: {} } : ctx.wait('1m', 'at work')),
      },
    })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    if (action === 'unbind') await process.bind('i', 'b')
    await world.clock.advance(seconds(1))
    const ask = {
      deprovision: () => process.deprovision('i'),
      update: () => process.update('i', { a: 'b' }),
      unbind: () => process.unbind('i', 'b'),
      bind: () => process.bind('i', 'c'),
    }
    const operation = await ask[action]()
    await world.clock.advance(seconds(1))
    await process.stop()
    const registries = [new ScriptedRegistry('dh')]
    await startWorld({ registries, store: world.ledger, clock: world.clock, services: [other] })
    await world.clock.advance(minutes(5))
    expect(await world.ledger.operation(operation)).toMatchObject({
      state: 'queued',
      description: 'waiting for a broker that has the service',
    })
  })

  it('waits for it, and refuses what is new', async () => {
    const { world, process } = await createBound()
    await process.stop()
    const registered = await startWorld({
      registries: [new ScriptedRegistry('dh')],
      store: world.ledger,
      clock: world.clock,
      services: [other],
    })
    expect(await registered.client.unbind('i', 'b', ids, incomplete)).toMatchObject({
      status: 503,
      body: { error: 'ServiceLeft', description: putBack },
    })
    const refused = { status: 400, body: { error: 'UnknownService', description: putBack } }
    expect(await registered.client.bind('i', 'c', ids, incomplete)).toMatchObject(refused)
    expect(
      await registered.client.update('i', { service_id: 'service', parameters: { a: 'b' } }, incomplete),
    ).toMatchObject(refused)
  })
})
