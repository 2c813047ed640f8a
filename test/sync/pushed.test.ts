import { describe, expect, it } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { createAdminClient } from '../../src/client/index.ts'
import { createBroker } from '../../src/create-broker.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { serviceOf } from '../engine/world.ts'
import { bundle, idsOf, place, ScriptedRegistry, startWorld, type World, type WorldOptions } from './world.ts'

const routes = { osb: { requireOrgAndSpace: false, apbRoutes: true } } as const

function open(options: Partial<WorldOptions> = {}): Promise<World> {
  const { settings, ...rest } = options
  return startWorld({ registries: [], ...rest, settings: { chores: { sync: '-' }, ...routes, ...settings } })
}

/** As `requests.post(url, data={'apbSpec': …})` of the original tool sends it: no version, and a form. */
function ask(world: World, method: string, path: string, form?: Readonly<Record<string, string>>) {
  const body = form && new URLSearchParams(form)
  return world.fetch(new Request(`${world.url}${path}`, { method, body }))
}

const encode = (source: string) => Buffer.from(source).toString('base64')
const push = (world: World, source: string, prefix = '') =>
  ask(world, 'POST', `${prefix}/v2/apb`, { apbSpec: encode(source) })
const sourceOf = (name: string, options = {}) => bundle(name, options).source
const shown = async (response: Response) => ({ status: response.status, body: await response.json() })
const adminOf = (world: World) =>
  createAdminClient({ url: world.url, fetch: (input, init) => world.fetch(new Request(input, init)) })
const imagesOf = async (world: World) => (await adminOf(world).registries()).body.services?.map(({ image }) => image)

describe('POST /v2/apb', () => {
  it('offers the spec, and what is pushed under the same name is its next version', async () => {
    const world = await open()
    const ids = idsOf('apb-push', 'db')
    expect(await shown(await push(world, sourceOf('db'), '/ansible-service-broker'))).toMatchObject({
      status: 200,
      body: { services: [{ id: ids.service_id, name: 'apb-push-db', plans: [{ id: ids.plan_id }] }] },
    })
    expect(await world.names()).toEqual(['apb-push-db'])
    expect(await imagesOf(world)).toEqual(['db'])
    await world.client.provision('old', { ...ids, ...place }, { acceptsIncomplete: true })
    await world.end('old')
    expect((await push(world, `image: registry.test/team/db:2\n${sourceOf('db', { version: '2.0.0' })}`)).status).toBe(
      200,
    )
    expect((await push(world, sourceOf('cache'), '/osb')).status).toBe(200)
    expect(await world.names()).toEqual(['apb-push-cache', 'apb-push-db'])
    expect(await imagesOf(world)).toEqual(['cache', 'registry.test/team/db:2'])
    await world.client.provision('new', { ...ids, ...place }, { acceptsIncomplete: true })
    await world.end('new')
    // The one that was there stays with its version.
    await world.client.deprovision('old', ids, { acceptsIncomplete: true })
    for (let turn = 0; turn < 20; turn += 1) await world.clock.advance(500)
    expect(world.ran).toEqual(['provision 1.0.0', 'provision 2.0.0', 'deprovision 1.0.0'])
  })

  it('survives syncs and restarts beside other registries, and ends with the setting', async () => {
    const clock = createVirtualClock()
    const store = createMemoryStore({ clock })
    const local = new ScriptedRegistry('local')
    local.offers(bundle('web'))
    const first = await open({ store, clock, registries: [local] })
    await push(first, sourceOf('db'))
    await first.sync()
    await first.stop()
    await clock.advance(1)
    const second = await open({ store, clock, registries: [local] })
    await second.sync()
    expect(await second.names()).toEqual(['apb-push-db', 'local-web'])
    expect((await adminOf(second).registries()).body.registries).toMatchObject([
      { name: 'local' },
      { name: 'apb-push', type: 'pushed', failures: 0 },
    ])
    await second.stop()
    await clock.advance(1)
    const third = await startWorld({ store, clock, registries: [local] })
    await third.sync()
    expect(await third.names()).toEqual(['local-web'])
  })

  it('is not lost to a sync that began before it', async () => {
    const local = new ScriptedRegistry('local')
    local.offers(bundle('web'))
    const world = await open({ registries: [local] })
    local.hold()
    const syncing = ask(world, 'POST', '/admin/registries/sync')
    await syncing
    await push(world, sourceOf('db'))
    local.release()
    for (let turn = 0; turn < 10; turn += 1) await world.clock.advance(1)
    expect(await world.names()).toEqual(['apb-push-db', 'local-web'])
    const both = await Promise.all([push(world, sourceOf('a')), push(world, sourceOf('b'))])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect(await world.names()).toEqual(['apb-push-a', 'apb-push-b', 'apb-push-db', 'local-web'])
  })

  it.each([
    ['nothing', {}, 'send a form with apbSpec'],
    ['no base64', { apbSpec: 'a*b' }, 'apbSpec is not base64'],
    ['no text', { apbSpec: Buffer.from([0xff]).toString('base64') }, 'apbSpec is not UTF-8'],
    ['no spec', { apbSpec: encode('name: x\n') }, 'the spec cannot be used: '],
    [
      'a folder of the machine',
      { apbSpec: encode(`image: /etc\n${sourceOf('db')}`) },
      'has to be the name of an image',
    ],
    ['no name of an image', { apbSpec: encode(sourceOf('"my db"')) }, 'has to be the name of an image'],
  ])('refuses %s', async (_what, form, why) => {
    const world = await open()
    expect(await shown(await ask(world, 'POST', '/v2/apb', form))).toEqual({
      status: 400,
      body: { error: 'MalformedRequest', description: expect.stringContaining(why) },
    })
    expect(await world.names()).toEqual([])
  })

  it('refuses what would harm an instance, and changes nothing', async () => {
    const world = await open()
    await push(world, sourceOf('db', { plans: ['small', 'large'] }))
    await world.client.provision('i', { ...idsOf('apb-push', 'db'), ...place }, { acceptsIncomplete: true })
    await world.end('i')
    const refused = await shown(await push(world, sourceOf('db', { plans: ['large'] })))
    expect(refused).toMatchObject({
      status: 400,
      body: { description: expect.stringContaining('it would harm 1 instance') },
    })
    expect((await world.client.catalog()).body.services?.[0]?.plans).toHaveLength(2)
  })
})

describe('DELETE /v2/apb', () => {
  it('takes one or all out of the catalog, at once, and leaves instances what they need', async () => {
    const local = new ScriptedRegistry('local')
    local.offers(bundle('web'))
    const world = await open({ registries: [local], reconcile: { emptyAfter: 3 } })
    for (const name of ['a', 'b', 'c']) await push(world, sourceOf(name))
    const b = idsOf('apb-push', 'b')
    await world.client.provision('i', { ...b, ...place }, { acceptsIncomplete: true })
    await world.end('i')
    const removed = await ask(world, 'DELETE', `/v2/apb/${idsOf('apb-push', 'a').service_id}`)
    expect({ status: removed.status, body: await removed.text() }).toEqual({ status: 204, body: '' })
    expect(await world.names()).toEqual(['apb-push-b', 'apb-push-c', 'local-web'])
    for (const id of [idsOf('apb-push', 'a').service_id, idsOf('local', 'web').service_id])
      expect(await shown(await ask(world, 'DELETE', `/v2/apb/${id}`))).toMatchObject({
        status: 404,
        body: { error: 'NotFound' },
      })
    expect((await ask(world, 'DELETE', '/v2/apb')).status).toBe(204)
    expect(await world.names()).toEqual(['local-web'])
    await world.client.deprovision('i', b, { acceptsIncomplete: true })
    for (let turn = 0; turn < 20; turn += 1) await world.clock.advance(500)
    expect(world.ran).toEqual(['provision 1.0.0', 'deprovision 1.0.0'])
    await push(world, sourceOf('a'))
    expect(await world.names()).toEqual(['apb-push-a', 'local-web'])
  })
})

describe('POST /v2/bootstrap', () => {
  /** The virtual clock has to go on while the request waits. */
  async function bootstrap(world: World, path = '/v2/bootstrap') {
    let response: Response | undefined
    const asking = ask(world, 'POST', path).then(answer => {
      response = answer
    })
    while (response === undefined) await world.clock.advance(50)
    await asking
    return shown(response)
  }

  it('asks the registries, and tells what there is', async () => {
    const local = new ScriptedRegistry('local')
    const world = await open({ registries: [local] })
    await push(world, sourceOf('db'))
    local.offers(bundle('web'), bundle('broken', { source: 'name: x' }))
    expect(await bootstrap(world, '/osb/v2/bootstrap')).toEqual({
      status: 200,
      body: { spec_count: 2, image_count: 2 },
    })
    expect(await world.names()).toEqual(['apb-push-db', 'local-web'])
  })

  it('waits for one that runs and begins another, and says so where that takes too long', async () => {
    const local = new ScriptedRegistry('local')
    const world = await open({ registries: [local], settings: { server: { syncTimeout: '2s' } } })
    const before = local.asked
    local.hold()
    const first = bootstrap(world)
    await world.clock.advance(50)
    expect(await first).toEqual({ status: 200, body: { msg: 'Bootstrap job started' } })
    local.offers(bundle('web'))
    const second = bootstrap(world)
    local.release()
    expect(await second).toEqual({ status: 200, body: { spec_count: 1, image_count: 1 } })
    expect(local.asked - before).toBe(2)
  })

  it('waits without the place of another request, and one sync is enough for all who wait', async () => {
    const local = new ScriptedRegistry('local')
    const world = await open({ registries: [local] })
    const before = local.asked
    // A chore is taken for a moment, and the start took this one.
    await world.clock.advance(1)
    local.hold()
    const waiting = Array.from({ length: 1_001 }, () => ask(world, 'POST', '/v2/bootstrap'))
    const pushed = await push(world, sourceOf('db'))
    local.release()
    let answered = false
    const all = Promise.all(waiting).finally(() => {
      answered = true
    })
    while (!answered) await world.clock.advance(50)
    const bodies = await Promise.all((await all).map(response => response.json()))
    // Looked at last: whatever it was, nobody still waits when the test ends.
    expect(pushed.status).toBe(200)
    expect(new Set(bodies.map(body => JSON.stringify(body)))).toEqual(new Set(['{"spec_count":1,"image_count":0}']))
    expect(local.asked - before).toBe(2)
  })

  it('fails where a registry must answer and does not', async () => {
    const local = new ScriptedRegistry('local', true)
    const world = await open({ registries: [local] })
    local.fails()
    expect(await bootstrap(world)).toEqual({
      status: 500,
      body: { error: 'ActionFailed', description: 'The sync failed: fail_on_error: local did not answer.' },
    })
  })
})

describe('the routes of the tools', () => {
  it('are off unless they are turned on', async () => {
    const world = await startWorld({ registries: [] })
    for (const [method, path] of [
      ['POST', '/v2/bootstrap'],
      ['POST', '/v2/apb'],
      ['DELETE', '/v2/apb'],
      ['POST', '/osb/v2/apb'],
    ] as const) {
      const headers = { 'x-broker-api-version': '2.17' }
      const { status } = await world.fetch(new Request(`${world.url}${path}`, { method, headers }))
      expect({ path, status }).toEqual({ path, status: 404 })
    }
  })

  it('are for operators', async () => {
    const users = (['platform', 'viewer', 'operator'] as const).map(role => {
      return { username: role, password: 'x', platform: 'default', roles: [role] }
    })
    const world = await open({ authenticator: createBasicAuthenticator(users) })
    const statuses = async (user?: string) => {
      const headers: Record<string, string> = user === undefined ? {} : { authorization: `Basic ${btoa(`${user}:x`)}` }
      const body = new URLSearchParams({ apbSpec: encode(sourceOf('db')) })
      const asked = [
        world.fetch(new Request(`${world.url}/v2/apb`, { method: 'POST', headers, body })),
        world.fetch(new Request(`${world.url}/osb/v2/apb`, { method: 'DELETE', headers })),
      ]
      return (await Promise.all(asked)).map(({ status }) => status)
    }
    expect(await statuses()).toEqual([401, 401])
    for (const user of ['platform', 'viewer']) expect(await statuses(user)).toEqual([403, 403])
    expect(await statuses('operator')).toEqual([200, 204])
    const headers = { authorization: `Basic ${btoa('platform:x')}` }
    const { status } = await world.fetch(new Request(`${world.url}/v2/bootstrap`, { method: 'POST', headers }))
    expect(status).toBe(403)
  })

  it('are not for a page of another site, which can send forms with the password of whoever reads it', async () => {
    const world = await open()
    for (const path of ['/v2/apb', '/v2/bootstrap']) {
      const headers = { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }
      const body = new URLSearchParams({ apbSpec: encode(sourceOf('db')) })
      const response = await world.fetch(new Request(`${world.url}${path}`, { method: 'POST', headers, body }))
      expect(await shown(response)).toMatchObject({ status: 403, body: { error: 'CrossSite' } })
    }
    expect(await world.names()).toEqual([])
  })

  it('need bundles, and a name that no registry has', async () => {
    const { osb } = routes
    const bare = createBroker(
      { services: [serviceOf({})] },
      { store: 'memory:', authenticator: 'none', settings: { osb } },
    )
    await expect(bare.start()).rejects.toThrow('osb.apbRoutes is on, and nothing can run what is pushed.')
    await expect(open({ registries: [new ScriptedRegistry('apb-push')] })).rejects.toThrow('"apb-push"')
  })

  it('take what they take', async () => {
    const world = await open()
    expect((await ask(world, 'GET', '/v2/bootstrap')).headers.get('allow')).toBe('POST')
    expect((await ask(world, 'GET', '/v2/apb')).headers.get('allow')).toBe('POST, DELETE')
    expect((await ask(world, 'POST', '/v2/apb/x')).headers.get('allow')).toBe('DELETE')
    expect((await ask(world, 'POST', '/elsewhere/v2/apb')).status).not.toBe(200)
  })
})
