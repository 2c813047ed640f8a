import { expect, it, onTestFinished } from 'vitest'
import type { OsbResponse } from '../../src/client/index.ts'
import { defineService } from '../../src/index.ts'
import { silent } from '../../src/observer.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import type { Store } from '../../src/store.ts'
import { startTestBroker, type TestBroker } from '../../src/testing/test-broker.ts'
import { bundle, idsOf, ScriptedRegistry, startWorld } from '../sync/world.ts'
import { adminOf } from '../verbs/admin.ts'
import { describeStores, realClock, until } from './stores.ts'

const reason = 'it moves from the old broker'
const ids = { service_id: 'db', plan_id: 'small' }
const place = { organization_guid: 'o', space_guid: 's' }
const old = {
  ...ids,
  ...place,
  parameters: { size: 2 },
  state: { database: 'd1' },
  dashboard_url: 'https://dash.example/1',
  created_at: '2020-02-03T04:05:06Z',
  reason,
}
const binding = { binding_id: 'b', credentials: { uri: 'db://d1' }, state: { user: 'u1' }, parameters: { role: 'r' } }

interface Call {
  readonly action: string
  readonly state: JsonObject
  readonly bindingState?: JsonObject
}

/** A broker whose service notes what it is called with. */
async function start(store: Store) {
  const calls: Call[] = []
  const states = { type: 'object', properties: { database: { type: 'string' } }, required: ['database'] }
  const service = defineService({
    id: 'db',
    name: 'db',
    description: 'A database',
    bindable: true,
    parameters: { type: 'object', properties: { size: { type: 'integer' }, kind: { default: 'k' } } },
    state: states as JsonObject,
    bindingState: { type: 'object', properties: { user: { type: 'string' } }, required: ['user'] } as JsonObject,
    plans: [
      { id: 'small', name: 'small', description: 's', planUpdateable: true },
      { id: 'large', name: 'large', description: 'l' },
      { id: 'unbindable', name: 'unbindable', description: 'u', bindable: false },
    ],
    provision: async () => ({ state: { database: 'new' } }),
    async update(ctx) {
      calls.push({ action: 'update', state: ctx.state })
    },
    async deprovision(ctx) {
      calls.push({ action: 'deprovision', state: ctx.state })
    },
    async bind(ctx) {
      calls.push({ action: 'bind', state: ctx.state })
      return { credentials: { uri: 'db://bound' }, state: { user: 'u2' } }
    },
    async unbind(ctx) {
      calls.push({ action: 'unbind', state: ctx.state, bindingState: ctx.bindingState })
    },
  })
  const broker = await startTestBroker({ services: [service], observer: silent, store, clock: realClock })
  onTestFinished(() => broker.stop())
  return { ...broker, calls, admin: adminOf(broker) }
}

async function succeeded({ store }: TestBroker, answer: OsbResponse<{ readonly operation?: string | null }>) {
  expect(answer).toMatchObject({ status: 202, body: { operation: expect.any(String) } })
  const operation = await until(async () => {
    const found = await store.operation(answer.body.operation ?? '')
    return found?.finishedAt === undefined ? undefined : found
  })
  expect(operation).toMatchObject({ state: 'succeeded' })
}

const accept = { acceptsIncomplete: true }

describeStores('adopt', newStore => {
  it('makes an instance and its bindings those of this broker, with a history', async () => {
    const broker = await start(await newStore())
    const { status, body } = await broker.admin.adoptInstance('i', { ...old, bindings: [binding] })
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        instance_id: 'i',
        ...ids,
        outcome: 'adopted',
        dry_run: false,
        warnings: [],
        bindings: [{ binding_id: 'b', outcome: 'adopted', warnings: [] }],
      },
    })
    expect(await broker.store.instance('i')).toMatchObject({
      phase: 'ready',
      platform: 'default',
      parameters: { size: 2, kind: 'k' },
      context: place,
      createdAt: Date.parse(old.created_at),
      dashboardUrl: old.dashboard_url,
    })
    const told = (await broker.store.history('i')).map(({ type, verb, by, reason: why, bindingId, action }) => {
      return { type, verb, by, why, bindingId, action }
    })
    const line = { type: 'acted', verb: 'adopt', by: 'anonymous', why: reason }
    expect(told).toEqual([
      { ...line, bindingId: undefined, action: 'provision' },
      { ...line, bindingId: 'b', action: 'bind' },
    ])
    expect((await broker.client.lastOperation('i')).body).toMatchObject({ state: 'succeeded' })
    expect((await broker.client.lastBindingOperation('i', 'b')).body).toMatchObject({ state: 'succeeded' })
    expect((await broker.client.fetchInstance('i')).body).toMatchObject({ dashboard_url: old.dashboard_url })
    expect((await broker.client.fetchBinding('i', 'b')).body).toMatchObject({ credentials: { uri: 'db://d1' } })
    // What the platform sent to the other broker is repeated here, and nothing is made anew.
    const again = await broker.client.provision('i', { ...ids, ...place, parameters: { size: 2 } }, accept)
    expect(again.status).toBe(200)
    expect((await broker.client.bind('i', 'b', { ...ids, parameters: { role: 'r' } }, accept)).status).toBe(200)
  })

  it('is bound, updated, unbound and deprovisioned afterwards, with the state that it came with', async () => {
    const broker = await start(await newStore())
    await broker.admin.adoptInstance('i', { ...old, bindings: [binding] })
    const { client } = broker
    await succeeded(broker, await client.bind('i', 'b2', ids, accept))
    await succeeded(broker, await client.update('i', { service_id: 'db', parameters: { size: 3 } }, accept))
    await succeeded(broker, await client.unbind('i', 'b', ids, accept))
    await succeeded(broker, await client.unbind('i', 'b2', ids, accept))
    await succeeded(broker, await client.deprovision('i', ids, accept))
    const state = { database: 'd1' }
    expect(broker.calls).toEqual([
      { action: 'bind', state },
      { action: 'update', state },
      { action: 'unbind', state, bindingState: { user: 'u1' } },
      { action: 'unbind', state, bindingState: { user: 'u2' } },
      { action: 'deprovision', state },
    ])
    expect((await broker.client.deprovision('i', ids, accept)).status).toBe(410)
    // The id is free again.
    expect((await broker.admin.adoptInstance('i', old)).status).toBe(201)
  })

  it('changes nothing in a dry run, and says what it would do', async () => {
    const broker = await start(await newStore())
    const { status, body } = await broker.admin.adoptInstance('i', { ...old, bindings: [binding], dry_run: true })
    expect({ status, outcome: body.outcome, dry: body.dry_run }).toEqual({ status: 200, outcome: 'adopted', dry: true })
    expect(await broker.store.instance('i')).toBeUndefined()
    expect(await broker.store.history('i')).toEqual([])
  })

  it('skips what is here with the same content, and takes the bindings that are new', async () => {
    const broker = await start(await newStore())
    await broker.admin.adoptInstance('i', { ...old, bindings: [binding] })
    const before = await broker.store.history('i')
    const same = await broker.admin.adoptInstance('i', { ...old, bindings: [binding] })
    expect(same).toMatchObject({ status: 200, body: { outcome: 'unchanged', bindings: [{ outcome: 'unchanged' }] } })
    expect(await broker.store.history('i')).toEqual(before)
    const more = { ...binding, binding_id: 'b2' }
    const tried = await broker.admin.adoptBindings('i', { bindings: [binding, more], reason, dry_run: true })
    expect(tried).toMatchObject({ status: 200, body: { bindings: [{ outcome: 'unchanged' }, { outcome: 'adopted' }] } })
    expect(await broker.store.binding('i', 'b2')).toBeUndefined()
    const added = await broker.admin.adoptBindings('i', { bindings: [binding, more], reason })
    expect(added).toMatchObject({ status: 201, body: { bindings: [{ outcome: 'unchanged' }, { outcome: 'adopted' }] } })
    expect(await broker.store.binding('i', 'b2')).toMatchObject({ phase: 'ready', state: { user: 'u1' } })
  })

  it.each<[string, JsonObject, number, string, RegExp]>([
    ['another state', { state: { database: 'other' } }, 409, 'InstanceConflict', /: state differ\./],
    ['another plan', { plan_id: 'large' }, 409, 'InstanceConflict', /: planId differ\./],
    ['an unknown service', { service_id: 'x' }, 400, 'UnknownService', /service_id/],
    ['an unknown plan', { plan_id: 'x' }, 400, 'UnknownPlan', /plan_id/],
    ['a state that does not fit', { state: {} }, 400, 'InvalidState', /database/],
    ['a field that nobody knows', { credential: {} }, 400, 'MalformedRequest', /credential/],
    ['another binding', { bindings: [{ ...binding, state: { user: 'x' } }] }, 409, 'BindingConflict', /: state differ/],
    ['the state of a binding', { bindings: [{ ...binding, state: {} }] }, 400, 'InvalidState', /of the binding.*user/],
    ['a binding twice', { bindings: [binding, binding] }, 400, 'MalformedRequest', /twice/],
    ['a revision of no registry', { revision: 'r' }, 404, 'UnknownRevision', /"r"/],
  ])('refuses %s with the reason, and changes nothing', async (_, more, status, error, detail) => {
    const broker = await start(await newStore())
    await broker.admin.adoptInstance('i', { ...old, bindings: [binding] })
    const before = await broker.store.history('i')
    const refused = await broker.admin.adoptInstance('i', { ...old, ...more, reason })
    expect(refused).toMatchObject({ status, body: { error, detail: expect.stringMatching(detail) } })
    expect(await broker.store.history('i')).toEqual(before)
  })

  it('refuses bindings of plans that cannot be bound, and of instances that are not here', async () => {
    const broker = await start(await newStore())
    const unbindable = { ...old, plan_id: 'unbindable', bindings: [binding] }
    expect(await broker.admin.adoptInstance('i', unbindable)).toMatchObject({
      status: 400,
      body: { error: 'NotBindable' },
    })
    expect(await broker.store.instance('i')).toBeUndefined()
    expect((await broker.admin.adoptBindings('i', { bindings: [binding], reason })).status).toBe(404)
  })

  it('warns of parameters that the schema refuses today, and keeps them', async () => {
    const broker = await start(await newStore())
    const { status, body } = await broker.admin.adoptInstance('i', { ...old, parameters: { size: 'huge' } })
    expect({ status, warnings: body.warnings }).toEqual({
      status: 201,
      warnings: [expect.stringMatching(/size.*They are kept as they are\./)],
    })
    expect(await broker.store.instance('i')).toMatchObject({ parameters: { size: 'huge' } })
  })

  it('refuses an id that is being provisioned here', async () => {
    const broker = await start(await newStore())
    await succeeded(broker, await broker.client.provision('i', { ...ids, ...place }, accept))
    const refused = await broker.admin.adoptInstance('i', old)
    expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringMatching(/parameters, state/) } })
    expect(JSON.stringify(refused.body)).not.toContain('d1')
  })

  it('pins an instance of a bundle to the revision that is offered, or to the one that is named', async () => {
    const registry = new ScriptedRegistry('local')
    registry.offers(bundle('db'))
    const world = await startWorld({ registries: [registry], store: await newStore(), clock: realClock })
    const admin = adminOf(world)
    const of = idsOf('local', 'db')
    const given = { ...of, ...place, state: { state: { host: 'h' }, credentials: { password: 'p' } }, reason }
    const first = await admin.adoptInstance('i', { ...given, bindings: [{ binding_id: 'b', credentials: {} }] })
    const revisions = (await world.store.catalog())?.revisions ?? []
    expect(first).toMatchObject({ status: 201, body: { revision: revisions[0]?.id } })
    registry.offers(bundle('db', { version: '2.0.0' }))
    await world.sync()
    // The revision of before is kept for it, and can still be named.
    const named = await admin.adoptInstance('j', { ...given, revision: revisions[0]?.id ?? '' })
    expect(named).toMatchObject({ status: 201, body: { revision: revisions[0]?.id } })
    expect((await admin.adoptInstance('k', given)).body.revision).not.toBe(revisions[0]?.id)
    expect(await admin.adoptInstance('l', { ...given, state: { host: 'h' } })).toMatchObject({
      status: 400,
      body: { error: 'InvalidState' },
    })
    await succeeded(world, await world.client.bind('i', 'b2', of, accept))
    for (const id of ['b', 'b2']) await succeeded(world, await world.client.unbind('i', id, of, accept))
    await succeeded(world, await world.client.deprovision('i', of, accept))
    await succeeded(world, await world.client.deprovision('k', of, accept))
    expect(world.ran).toEqual(['bind 1.0.0', 'unbind 1.0.0', 'unbind 1.0.0', 'deprovision 1.0.0', 'deprovision 2.0.0'])
  })
})
