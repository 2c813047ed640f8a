import { expect } from 'vitest'
import { defineService, TerminalError } from '../../src/index.ts'
import { conformance, requirement } from './harness.ts'
import { another, bare, bareService, bound, incomplete, provisioned } from './helpers.ts'
import { full, org } from './services.ts'

const path = '/v2/service_instances/i/service_bindings/b'
const service_id = 'full'
const busy = { status: 422, body: { error: 'ConcurrencyError' } }

/** Its credentials are what it was told about the application. */
const telling = defineService({
  ...bareService({ bindable: true }),
  async bind(ctx) {
    return { credentials: { app: ctx.binding.appGuid ?? 'none' } }
  },
  async unbind() {},
})

const unreadable = (actions: object) =>
  defineService({
    ...bareService({ bindable: true, bindingsRetrievable: false, actions }),
    async bind() {
      return { credentials: { user: 'u' } }
    },
    async unbind() {},
  })

conformance('Binding', () => {
  requirement('BIND-03', 'an instance of a plan that is not bindable is 400', async t => {
    const ids = { service_id, plan_id: 'full-unbindable' }
    await provisioned(t, 'i', ids)
    expect(await t.client.bind('i', 'b', ids)).toMatchObject({ status: 400, body: { error: 'NotBindable' } })
    const plain = { service_id: 'plain', plan_id: 'plain-plan' }
    await provisioned(t, 'j', plain)
    expect(await t.client.bind('j', 'b', plain)).toMatchObject({ status: 400, body: { error: 'NotBindable' } })
    expect(t.backend.done).toEqual(['provision i', 'provision j'])
    expect((await t.client.lastBindingOperation('i', 'b')).status).toBe(404)
  })

  requirement('BIND-04', 'the data is handed out with the answer, or with the first fetch', async t => {
    await provisioned(t)
    const credentials = (id: string) => ({ username: id, password: `secret-${id}` })
    expect((await t.client.bind('i', 'b', full)).body.credentials).toEqual(credentials('b'))
    await t.client.bind('i', 'c', full, incomplete)
    await t.ended('i', 'c')
    expect((await t.client.fetchBinding('i', 'c')).body.credentials).toEqual(credentials('c'))
    const client = { service_id: 'client', plan_id: 'client-plan' }
    await provisioned(t, 'j', client)
    expect((await t.client.bind('j', 'd', client, incomplete)).body.credentials).toEqual(credentials('d'))
  })

  requirement(
    'BIND-08',
    'the application is that of bind_resource, else that of the top level, else none',
    async t => {
      await provisioned(t, 'i', bare)
      const app = async (id: string, more: object) =>
        (await t.client.bind('i', id, { ...bare, ...more })).body.credentials?.app
      expect(await app('a', { app_guid: 'top', bind_resource: { app_guid: 'inner' } })).toBe('inner')
      expect(await app('b', { app_guid: 'top', bind_resource: {} })).toBe('top')
      expect(await app('c', { app_guid: 'top' })).toBe('top')
      expect(await app('d', { bind_resource: { credential_client_id: 'x' } })).toBe('none')
      expect(await app('e', { app_guid: null })).toBe('none')
    },
    { services: [telling] },
  )

  requirement('BIND-09', 'a service that binds applications only says RequiresApp', async t => {
    const ids = { service_id: 'app-only', plan_id: 'app-only-plan' }
    await provisioned(t, 'i', ids)
    for (const bind_resource of [undefined, {}, { route: 'app.example' }])
      expect(await t.client.bind('i', 'b', { ...ids, bind_resource })).toMatchObject({
        status: 422,
        body: { error: 'RequiresApp' },
      })
    expect(t.backend.done).toEqual(['provision i'])
    expect((await t.client.bind('i', 'b', { ...ids, bind_resource: { app_guid: 'app' } })).status).toBe(201)
    expect((await t.client.bind('i', 'c', { ...ids, app_guid: 'app' })).status).toBe(201)
  })

  requirement('BIND-10', 'parameters that do not fit the schema are refused, by name', async t => {
    await provisioned(t)
    const { status, body } = await t.client.bind('i', 'b', { ...full, parameters: { readonly: 'secret' } })
    expect([status, body.error]).toEqual([400, 'InvalidParameters'])
    expect(body.description).toContain('readonly')
    expect(body.description).not.toContain('secret')
    expect(t.backend.done).toEqual(['provision i'])
    expect((await t.client.lastBindingOperation('i', 'b')).status).toBe(404)
  })

  requirement(['BIND-11', 'BIND-12'], 'the first PUT is 201, an identical repeat 200 with the same body', async t => {
    await provisioned(t)
    const request = { ...full, parameters: { readonly: true }, bind_resource: { app_guid: 'a', space_guid: 's' } }
    const first = await t.client.bind('i', 'b', request)
    expect(first.status).toBe(201)
    expect(first.body).toEqual({
      credentials: { username: 'b', password: 'secret-b' },
      endpoints: [{ host: 'db.example', ports: ['5432'] }],
    })
    const reordered = { ...request, bind_resource: { space_guid: 's', app_guid: 'a' }, context: { space_name: 'new' } }
    for (const options of [{}, incomplete]) {
      const again = await t.client.bind('i', 'b', reordered, options)
      expect([again.status, again.body]).toEqual([200, first.body])
    }
    expect(t.backend.done).toEqual(['provision i', 'bind b'])
  })

  requirement(
    ['BIND-13', 'BIND-14', 'BIND-20'],
    'while it runs every PUT is 202 with the first operation and nothing else',
    async t => {
      await provisioned(t)
      const release = t.backend.hold('bind')
      const first = await t.client.bind('i', 'b', full, incomplete)
      const again = await t.client.bind('i', 'b', full, incomplete)
      expect([first.status, again.status]).toEqual([202, 202])
      expect(first.body).toEqual({ operation: expect.stringMatching(/^.{1,10000}$/) })
      expect(again.body).toEqual(first.body)
      release()
      expect(await t.ended('i', 'b', first.body.operation ?? '')).toMatchObject({ state: 'succeeded' })
      expect(t.backend.done).toEqual(['provision i', 'bind b'])
      expect((await t.client.bind('i', 'b', full, incomplete)).status).toBe(200)
    },
  )

  requirement('BIND-15', 'what is malformed or lacks mandatory data is 400 and creates nothing', async t => {
    await provisioned(t)
    const bodies: [unknown, string][] = [
      ['{', 'JSON'],
      ['[]', 'object'],
      ['', 'empty'],
      [{ plan_id: 'full-small' }, 'service_id'],
      [{ service_id }, 'plan_id'],
      [{ ...full, service_id: '' }, 'service_id'],
      [{ ...full, plan_id: 5 }, 'plan_id'],
      [{ ...full, app_guid: 5 }, 'app_guid'],
      [{ ...full, bind_resource: 'x' }, 'bind_resource'],
      [{ ...full, bind_resource: { app_guid: 5 } }, 'bind_resource.app_guid'],
      [{ ...full, parameters: [] }, 'parameters'],
      [{ ...full, context: 'x' }, 'context'],
      [{ ...full, predecessor_binding_id: 5 }, 'predecessor_binding_id'],
    ]
    for (const [body, word] of bodies) {
      const answer = await t.request('PUT', path, { body })
      expect(answer).toMatchObject({ status: 400, body: { error: 'MalformedRequest' } })
      expect(answer.body.description).toContain(word)
    }
    for (const [ids, error] of [
      [{ service_id: 'nobody', plan_id: 'full-small' }, 'UnknownService'],
      [{ service_id, plan_id: 'plain-plan' }, 'UnknownPlan'],
    ] as const)
      expect(await t.client.bind('i', 'b', ids)).toMatchObject({ status: 400, body: { error } })
    expect(t.backend.done).toEqual(['provision i'])
    expect((await t.client.lastBindingOperation('i', 'b')).status).toBe(404)
  })

  requirement('BIND-16', 'other parameters under an id that is there, or being created, are a conflict', async t => {
    await provisioned(t, 'i')
    await provisioned(t, 'j')
    const request = { ...full, parameters: { readonly: true } }
    const others = [
      {},
      { parameters: { readonly: false } },
      { ...request, app_guid: 'app' },
      { ...request, plan_id: 'full-large' },
      { ...request, plan_id: 'full-unbindable' },
      { service_id: 'always-sync', plan_id: 'always-sync-plan' },
      { service_id: 'plain', plan_id: 'plain-plan' },
    ]
    const expectConflicts = async () => {
      for (const other of others)
        expect(await t.client.bind('i', 'b', { ...full, ...other }, incomplete)).toMatchObject({
          status: 409,
          body: { error: 'BindingConflict' },
        })
    }
    const release = t.backend.hold('bind')
    await t.client.bind('i', 'b', request, incomplete)
    await expectConflicts()
    release()
    expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
    await expectConflicts()
    expect((await t.client.fetchBinding('i', 'b')).body.parameters).toEqual({ readonly: true })
    expect(t.backend.done.filter(line => line === 'bind b')).toHaveLength(1)
    expect((await t.client.bind('j', 'b', full)).status).toBe(201)
  })

  requirement('BIND-17', 'a service that is always asynchronous needs accepts_incomplete=true', async t => {
    const ids = { service_id: 'always-async', plan_id: 'always-async-plan' }
    await t.client.provision('i', { ...ids, ...org }, incomplete)
    await t.ended('i')
    for (const query of [{}, { accepts_incomplete: 'false' }])
      expect(await t.client.bind('i', 'b', ids, { query })).toMatchObject({
        status: 422,
        body: { error: 'AsyncRequired' },
      })
    expect((await t.client.lastBindingOperation('i', 'b')).status).toBe(404)
    expect((await t.client.bind('i', 'b', ids, incomplete)).status).toBe(202)
    expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
  })

  requirement('BIND-18', 'binds run side by side; what has to wait for one of them is a ConcurrencyError', async t => {
    await provisioned(t)
    const release = t.backend.hold('bind')
    expect((await t.client.bind('i', 'b', full, incomplete)).status).toBe(202)
    expect((await t.client.bind('i', 'c', full, incomplete)).status).toBe(202)
    const rotation = { predecessor_binding_id: 'b' }
    expect(await t.client.bind('i', 'd', rotation, incomplete)).toMatchObject(busy)
    expect(await t.client.update('i', { service_id, parameters: { size: 2 } }, incomplete)).toMatchObject(busy)
    release()
    for (const id of ['b', 'c']) expect(await t.ended('i', id)).toMatchObject({ state: 'succeeded' })
    expect((await t.client.bind('i', 'd', rotation)).status).toBe(201)
  })

  requirement(
    'BIND-21',
    'bindings that cannot be fetched are made synchronously, even where the platform would wait',
    async t => {
      await provisioned(t, 'i', bare)
      const { status, body } = await t.client.bind('i', 'b', bare, incomplete)
      expect([status, body.credentials]).toEqual([201, { user: 'u' }])
      const services = [unreadable({ bind: { async: 'always' } })]
      await expect(another(t, { services })).rejects.toThrow(/bindingsRetrievable: true/)
    },
    { services: [unreadable({ bind: { async: 'auto' } })] },
  )

  requirement('BIND-22', 'one application can have several bindings to one instance', async t => {
    await provisioned(t)
    const request = { ...full, bind_resource: { app_guid: 'app' } }
    const first = await t.client.bind('i', 'b', request)
    const second = await t.client.bind('i', 'c', request)
    expect([first.status, second.status]).toEqual([201, 201])
    expect((await t.client.unbind('i', 'b', full)).status).toBe(200)
    expect((await t.client.fetchBinding('i', 'c')).body.credentials).toEqual(second.body.credentials)
  })

  requirement('BIND-23', 'an unknown instance is 404, ids that are not those of the instance are 400', async t => {
    const missing = { status: 404, body: { error: 'InstanceNotFound' } }
    expect(await t.client.bind('i', 'b', full)).toMatchObject(missing)
    await provisioned(t)
    const large = { service_id, plan_id: 'full-large' }
    const sync = { service_id: 'always-sync', plan_id: 'always-sync-plan' }
    for (const ids of [large, sync]) expect((await t.client.bind('i', 'b', ids)).status).toBe(400)
    const release = t.backend.hold('update')
    await t.client.update('i', large, incomplete)
    for (const ids of [full, large]) expect(await t.client.bind('i', 'b', ids)).toMatchObject(busy)
    release()
    await t.ended('i')
    expect((await t.client.bind('i', 'b', full)).status).toBe(400)
    await bound(t, 'i', 'b', large)
    expect(t.backend.done).toEqual(['provision i', 'update i', 'bind b'])
    expect((await t.client.unbind('i', 'b', large)).status).toBe(200)
    expect((await t.client.deprovision('i', large)).status).toBe(200)
    expect(await t.client.bind('i', 'b', large)).toMatchObject(missing)
  })

  requirement('BIND-12', 'a bind that failed is no 201, and its id can be tried again', async t => {
    await provisioned(t)
    t.backend.failNext('bind', new TerminalError('No role.'))
    expect(await t.client.bind('i', 'b', full)).toMatchObject({ status: 500, body: { error: 'ActionFailed' } })
    expect((await t.client.fetchBinding('i', 'b')).status).toBe(404)
    expect((await t.client.bind('i', 'b', full)).status).toBe(201)
  })

  requirement(['CRED-01', 'CRED-02', 'CRED-03'], 'credentials are an object of their own for each binding', async t => {
    await provisioned(t)
    const first = await t.client.bind('i', 'b', full)
    const second = await t.client.bind('i', 'c', full)
    for (const { status, body } of [first, second]) {
      expect(status).toBe(201)
      expect(body.endpoints).toEqual([{ host: 'db.example', ports: ['5432'] }])
    }
    expect(first.body.credentials).toEqual({ username: 'b', password: 'secret-b' })
    expect(second.body.credentials).toEqual({ username: 'c', password: 'secret-c' })
    expect((await t.client.bind('i', 'b', full)).body.credentials).toEqual(first.body.credentials)
    expect((await t.client.unbind('i', 'b', full)).status).toBe(200)
    expect([...t.backend.things]).toEqual(['instance:i', 'binding:c'])
  })

  requirement('CRED-03', 'credentials that are not an object fail the bind', async t => {
    await provisioned(t)
    t.backend.bindResult = { credentials: ['a', 'list'] }
    const { status, body } = await t.client.bind('i', 'b', full)
    expect([status, body.error]).toEqual([500, 'ActionFailed'])
    expect(body.description).toContain('credentials')
    expect((await t.client.fetchBinding('i', 'b')).status).toBe(404)
  })
})
