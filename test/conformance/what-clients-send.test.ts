import { expect, it } from 'vitest'
import { conformance, type Platform, startPlatform } from './harness.ts'
import { bound, provisioned } from './helpers.ts'
import { full, org } from './services.ts'

const instance = '/v2/service_instances/i'
const binding = `${instance}/service_bindings/b`
const poll = '/last_operation'
const { service_id } = full
const app = { service_id: 'app-only', plan_id: 'app-only-plan' }

/** A Go struct without `omitempty` sends every text and every map that nobody has set: this is how it says nothing. */
const nothing = {
  provision: { organization_guid: '', space_guid: '', context: null, parameters: null, maintenance_info: null },
  update: {
    plan_id: '',
    context: null,
    parameters: null,
    previous_values: { plan_id: '', service_id: '', organization_id: '', space_id: '', maintenance_info: null },
    maintenance_info: { version: '', description: '' },
  },
  bind: {
    app_guid: '',
    bind_resource: { app_guid: '', route: '', space_guid: '', credential_client_id: null, backup_agent: '' },
    context: null,
    parameters: null,
    predecessor_binding_id: '',
  },
}

conformance('An empty text and null in place of what may be left out', () => {
  const both = (title: string, run: (t: Platform) => Promise<void>, settings = {}) =>
    it.each(['in process', 'socket'] as const)(`${title} (%s)`, async transport =>
      run(await startPlatform(transport, { settings })),
    )

  both('are as good as absent in a bind, also for a repeat in the other form', async t => {
    await provisioned(t)
    const written = { ...full, ...nothing.bind }
    expect((await t.request('PUT', binding, { body: written })).status).toBe(201)
    for (const body of [full, written, { ...full, bind_resource: null }, { ...full, bind_resource: {} }])
      expect((await t.request('PUT', binding, { body })).status).toBe(200)
    const stored = await t.store.binding('i', 'b')
    expect([stored?.appGuid, stored?.bindResource, stored?.predecessorId]).toEqual([undefined, {}, undefined])
    expect(t.backend.done).toEqual(['provision i', 'bind b'])
  })

  both('name no application where one is needed', async t => {
    await provisioned(t, 'i', app)
    const without = await t.request('PUT', binding, { body: { ...app, ...nothing.bind } })
    expect(without).toMatchObject({ status: 422, body: { error: 'RequiresApp' } })
    const older = { ...app, ...nothing.bind, app_guid: 'app' }
    expect((await t.request('PUT', binding, { body: older })).status).toBe(201)
    expect((await t.request('PUT', binding, { body: { ...app, app_guid: 'app' } })).status).toBe(200)
    expect(await t.store.binding('i', 'b')).toMatchObject({ appGuid: 'app', bindResource: {} })
  })

  both('leave to a rotation what its predecessor has', async t => {
    await provisioned(t)
    const bind_resource = { app_guid: 'app', space_guid: 'space' }
    await t.client.bind('i', 'b', { ...full, bind_resource, parameters: { readonly: true } })
    const rotation = { service_id: '', plan_id: '', ...nothing.bind, predecessor_binding_id: 'b' }
    expect((await t.request('PUT', `${instance}/service_bindings/c`, { body: rotation })).status).toBe(201)
    expect((await t.client.bind('i', 'c', { predecessor_binding_id: 'b' })).status).toBe(200)
    const { appGuid, bindResource, parameters } = (await t.store.binding('i', 'c')) ?? {}
    expect([appGuid, bindResource, parameters]).toEqual(['app', bind_resource, { readonly: true }])
  })

  both('are as good as absent in a provision, also for a repeat in the other form', async t => {
    const context = { platform: 'cloudfoundry', ...org }
    const written = { ...nothing.provision, ...full, context: { ...context, namespace: '', clusterid: null } }
    expect((await t.request('PUT', instance, { body: written })).status).toBe(201)
    for (const body of [{ ...full, context }, { ...full, ...org, context }, written])
      expect((await t.request('PUT', instance, { body })).status).toBe(200)
    expect((await t.store.instance('i'))?.context).toEqual(context)
  })

  both('are no organization and no space, at the top or in the context', async t => {
    const empty = { organization_guid: '', space_guid: '' }
    for (const [body, missing] of [
      [{ ...full, ...nothing.provision }, 'organization_guid'],
      [{ ...full, ...org, organization_guid: '' }, 'organization_guid'],
      [{ ...full, ...org, space_guid: '' }, 'space_guid'],
      [{ ...full, context: empty }, 'organization_guid'],
      [{ ...full, context: { namespace: '' } }, 'organization_guid'],
    ] as const) {
      const { status, body: refusal } = await t.request('PUT', instance, { body })
      expect([status, refusal.error]).toEqual([400, 'MalformedRequest'])
      expect(refusal.description).toContain(`${missing} is required`)
    }
    expect(await t.store.instance('i')).toBeUndefined()
  })

  both(
    'are taken for organization and space where the settings ask for none',
    async t => {
      expect((await t.request('PUT', instance, { body: { ...full, ...nothing.provision } })).status).toBe(201)
      expect((await t.request('PUT', instance, { body: full })).status).toBe(200)
      expect((await t.store.instance('i'))?.context).toEqual({})
    },
    { osb: { requireOrgAndSpace: false } },
  )

  both('change nothing in an update, and a repeat in the other form is the same update', async t => {
    await provisioned(t)
    const before = await t.store.instance('i')
    const written = { service_id, ...nothing.update }
    expect((await t.request('PATCH', instance, { body: written })).status).toBe(200)
    const place = { service_id, context: { organization_guid: '', space_guid: null } }
    expect((await t.request('PATCH', instance, { body: place })).status).toBe(200)
    expect(await t.store.instance('i')).toEqual(before)
    const release = t.backend.hold('update')
    const parameters = { size: 2 }
    const query = '?accepts_incomplete=true'
    const first = await t.request('PATCH', instance + query, { body: { ...written, parameters } })
    const again = await t.request('PATCH', instance + query, { body: { service_id, parameters } })
    expect([first.status, again.status, again.body]).toEqual([202, 202, first.body])
    release()
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    expect(t.backend.done).toEqual(['provision i', 'update i'])
  })

  both('are as good as absent in the query of a GET and of a poll', async t => {
    await provisioned(t)
    await bound(t)
    for (const path of [instance, instance + poll, binding, binding + poll]) {
      const without = await t.request('GET', path)
      const hinted = await t.request('GET', `${path}?service_id=&plan_id=&operation=`)
      expect([hinted.status, hinted.body]).toEqual([200, without.body])
    }
    expect((await t.request('GET', `${instance}?service_id=&service_id=full`)).status).toBe(400)
  })

  both('do for the deletion of a binding that is not there, and for no other', async t => {
    await provisioned(t)
    const query = '?service_id=&plan_id='
    expect((await t.request('DELETE', binding + query)).status).toBe(410)
    await bound(t)
    for (const path of [instance, binding])
      expect(await t.request('DELETE', path + query)).toMatchObject({
        status: 400,
        body: { error: 'MalformedRequest', description: expect.stringContaining('service_id is required') },
      })
    expect(t.backend.done).toEqual(['provision i', 'bind b'])
  })

  both('stay what they are in parameters: those belong to the user', async t => {
    await provisioned(t)
    for (const value of ['', null]) {
      const body = { service_id, parameters: { name: value } }
      const { status } = await t.request('PATCH', instance, { body })
      expect(status).toBe(value === '' ? 200 : 400)
    }
    expect((await t.client.fetchInstance('i')).body.parameters).toEqual({ size: 1, name: '' })
  })

  both('do not stand for what is mandatory', async t => {
    await provisioned(t)
    for (const [method, path, body] of [
      ['PUT', `${instance}-2`, { ...full, ...org }],
      ['PATCH', instance, { service_id }],
      ['PUT', binding, full],
    ] as const)
      for (const name of Object.keys(body).filter(key => key.endsWith('_id')))
        for (const value of ['', null])
          expect(await t.request(method, path, { body: { ...body, [name]: value } })).toMatchObject({
            status: 400,
            body: { error: 'MalformedRequest', description: expect.stringContaining(`${name} is required`) },
          })
  })
})

/** The bodies that public clients make, field by field as their sources have them. */
conformance('Clients', () => {
  it('Cloud Foundry: a service key without a credential client, and an update by name', async () => {
    const t = await startPlatform('socket')
    const context = {
      platform: 'cloudfoundry',
      ...org,
      organization_name: 'org',
      space_name: 'space',
      organization_annotations: {},
      space_annotations: {},
      instance_name: 'db',
    }
    expect((await t.request('PUT', instance, { body: { ...full, ...org, context } })).status).toBe(201)
    const key = { ...full, bind_resource: { credential_client_id: null }, context }
    expect((await t.request('PUT', binding, { body: key })).status).toBe(201)
    const bind = { ...key, app_guid: 'app', bind_resource: { app_guid: 'app', space_guid: 's', app_annotations: {} } }
    expect((await t.request('PUT', `${instance}/service_bindings/c`, { body: bind })).status).toBe(201)
    const previous = { plan_id: 'full-small', service_id, organization_id: 'org-1', space_id: 'space-1' }
    const renamed = { ...full, previous_values: { ...previous, maintenance_info: null }, context }
    expect((await t.request('PATCH', instance, { body: renamed })).status).toBe(200)
    const query = `?plan_id=full-small&service_id=full`
    expect((await t.request('GET', `${instance}/last_operation${query}`)).body.state).toBe('succeeded')
    expect((await t.request('DELETE', binding + query)).status).toBe(200)
  })

  it('SAP Service Manager: a dash for organization and space, and a plan in every update', async () => {
    const t = await startPlatform('socket')
    const context = { platform: 'service-manager', instance_name: 'db', tenant: 't' }
    const created = { ...full, organization_guid: '-', space_guid: '-', context }
    expect((await t.request('PUT', `${instance}?accepts_incomplete=true`, { body: created })).status).toBe(202)
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    expect((await t.request('PUT', binding, { body: { ...full, context } })).status).toBe(201)
    const updated = { ...full, context, previous_values: { plan_id: 'full-small' } }
    expect((await t.request('PATCH', instance, { body: updated })).status).toBe(200)
  })

  it('structs of brokerapi, sent as they are: a service key has an empty application', async () => {
    const t = await startPlatform('socket')
    const created = { ...full, ...org, context: null, parameters: null, maintenance_info: null }
    expect((await t.request('PUT', instance, { body: created })).status).toBe(201)
    expect((await t.request('PUT', binding, { body: { app_guid: '', ...full } })).status).toBe(201)
    const previous = { plan_id: '', service_id: '', organization_id: '', space_id: '' }
    const updated = { service_id, plan_id: '', parameters: { size: 2 }, previous_values: previous }
    expect((await t.request('PATCH', instance, { body: updated })).status).toBe(200)
    expect((await t.request('GET', `${instance}/last_operation?operation=&plan_id=&service_id=`)).status).toBe(200)
  })
})
