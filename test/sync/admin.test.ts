import { describe, expect, it } from 'vitest'
import { createAdminClient } from '../../src/client/index.ts'
import { serviceOf } from '../engine/world.ts'
import { bundle, idsOf, minute, place, ScriptedRegistry, startWorld, type World } from './world.ts'

function adminOf(world: World) {
  return createAdminClient({ url: world.url, fetch: (input, init) => world.fetch(new Request(input, init)) })
}

describe('GET /admin/registries', () => {
  it('shows how each registry answers, what came from it and who uses what', async () => {
    const [local, hub] = [new ScriptedRegistry('local'), new ScriptedRegistry('hub')]
    local.offers(bundle('db'), bundle('cache'))
    hub.fails('no route to host')
    const world = await startWorld({ registries: [local, hub], settings: { chores: { sync: '*/10 * * * *' } } })
    const admin = adminOf(world)
    await world.client.provision('old', { ...idsOf('local', 'db'), ...place }, { acceptsIncomplete: true })
    await world.end('old')
    local.offers(bundle('db', { version: '1.1.0' }))
    await world.sync()
    await world.client.provision('new', { ...idsOf('local', 'db'), ...place }, { acceptsIncomplete: true })
    await world.end('new')

    const { status, body } = await admin.registries()
    expect(status).toBe(200)
    const at = expect.stringMatching(/^2026-01-01T00:/)
    expect(body.registries).toEqual([
      {
        name: 'local',
        type: 'scripted',
        checked_at: at,
        last_answer_at: at,
        partial: false,
        failures: 0,
        next_at: '2026-01-01T00:10:00.000Z',
      },
      {
        name: 'hub',
        type: 'scripted',
        checked_at: at,
        partial: false,
        failures: 2,
        silent_since: at,
        last_problem: 'no route to host',
        next_at: '2026-01-01T00:10:00.000Z',
      },
    ])
    const service = body.services?.find(({ name }) => name === 'local-db')
    expect(body.services?.map(({ name }) => name)).toEqual(['local-db'])
    expect(service).toMatchObject({
      id: idsOf('local', 'db').service_id,
      registry: 'local',
      bundle_version: '1.1.0',
      tag: 'latest',
      image: expect.stringContaining('registry.test/db@sha256:'),
      digest: expect.stringContaining('sha256:'),
    })
    expect(service).not.toHaveProperty('retired_at')
    expect(service?.instances).toEqual([
      { revision: service?.revision, bundle_version: '1.1.0', count: 1 },
      { revision: expect.any(String), bundle_version: '1.0.0', count: 1 },
    ])
    expect(body.last_change).toMatchObject({
      at,
      report: {
        updated: [{ full_name: 'local-db', bundle_version: '1.1.0', service_id: expect.any(String) }],
        retired: [{ full_name: 'local-cache', reason: expect.any(String) }],
        deleted: [{ full_name: 'local-cache' }],
      },
    })
  })

  it('shows what is retired and still used, and a registry that was taken out', async () => {
    const [local, hub] = [new ScriptedRegistry('local'), new ScriptedRegistry('hub')]
    local.offers(bundle('db'))
    const world = await startWorld({ registries: [hub, local] })
    await world.client.provision('i', { ...idsOf('local', 'db'), ...place }, { acceptsIncomplete: true })
    await world.end('i')
    await world.stop()
    await world.clock.advance(minute)
    const later = await startWorld({ registries: [hub], store: world.store, clock: world.clock })
    await later.sync()
    const { body } = await adminOf(later).registries()
    expect(body.registries?.map(({ name }) => name)).toEqual(['hub'])
    expect(body.services).toMatchObject([
      { name: 'local-db', retired_at: expect.any(String), instances: [{ count: 1 }] },
    ])
  })

  it('is empty where there are none', async () => {
    const world = await startWorld({ registries: [] })
    expect((await adminOf(world).registries()).body).toEqual({ registries: [], services: [] })
  })
})

describe('POST /admin/registries/sync', () => {
  it('begins a run of the chore, and refuses a second one beside it', async () => {
    const local = new ScriptedRegistry('local')
    const world = await startWorld({ registries: [local] })
    const admin = adminOf(world)
    await world.clock.advance(1_000)
    const asked = local.asked
    local.hold()
    expect(await admin.syncRegistries()).toMatchObject({
      status: 202,
      body: { name: 'sync', started: true, due_at: expect.stringMatching(/^2026-01-01T00:/) },
    })
    expect(await admin.syncRegistries()).toMatchObject({ status: 409, body: { error: 'ChoreRunning' } })
    local.release()
    await world.clock.advance(0)
    expect(local.asked).toBe(asked + 1)
  })
})

describe('GET /admin/operations/:id/log', () => {
  it('has the end of what each run of a bundle printed, and nothing else that it left', async () => {
    const collected = {
      kind: 'collected',
      verdict: { kind: 'failed', message: 'no room' },
      outputs: { credentials: { password: 'secret-1' }, problems: [] },
      log: 'one\ntwo\n',
    }
    const service = serviceOf({
      async provision(ctx) {
        await ctx.step('place 1', () => ({ host: 'h' }))
        await ctx.step('collect 1', () => collected)
        await ctx.step('unbind b: collect 1', () => ({ ...collected, verdict: { kind: 'succeeded' } }))
      },
    })
    const world = await startWorld({ registries: [], services: [service] })
    const ids = { service_id: service.id, plan_id: service.plans?.[0]?.id ?? '' }
    const answer = await world.client.provision('i', { ...ids, ...place }, { acceptsIncomplete: true })
    const operation = answer.body.operation ?? ''
    await world.end('i')
    const { status, body, text } = await adminOf(world).operationLog(operation)
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        operation,
        action: 'provision',
        state: 'succeeded',
        instance_id: 'i',
        runs: [
          { name: 'collect 1', verdict: 'failed', message: 'no room', log: 'one\ntwo\n' },
          { name: 'unbind b: collect 1', verdict: 'succeeded', log: 'one\ntwo\n' },
        ],
      },
    })
    expect(text).not.toContain('secret-1')
  })

  it('is 404 for an operation that nobody knows', async () => {
    const world = await startWorld({ registries: [] })
    expect(await adminOf(world).operationLog('../x')).toMatchObject({
      status: 404,
      body: { error: 'UnknownOperation' },
    })
  })
})

it('a gate of a retired service is taken while an instance has it, and while a registry has not answered', async () => {
  const registry = new ScriptedRegistry('local')
  registry.offers(bundle('db'), bundle('cache'))
  const world = await startWorld({ registries: [registry] })
  const admin = adminOf(world)
  await world.client.provision('i', { ...idsOf('local', 'db'), ...place }, { acceptsIncomplete: true })
  await world.end('i')
  registry.offers()
  await world.sync()
  const close = async (name: string) =>
    (await admin.closeGate('update', { message: 'No.', ...idsOf('local', name) })).status
  expect([await close('db'), await close('cache')]).toEqual([200, 400])
  const silent = new ScriptedRegistry('silent')
  silent.fails()
  const unknown = adminOf(await startWorld({ registries: [silent] }))
  expect((await unknown.closeGate('bind', { message: 'No.', service_id: 'later' })).status).toBe(200)
})
