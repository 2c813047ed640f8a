import { expect } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import { another, bare, bareService, incomplete, provisioned } from './helpers.ts'
import { createServices, full, org } from './services.ts'

const unknown = { 'x-acme-note': { deep: [1] }, next_year: true, app_guid: null }

conformance('General rules', () => {
  requirement('GEN-02', 'a platform of a later 2.x is served, and what only that version knows is skipped', async t => {
    const client = t.createClient({ apiVersion: '2.99' })
    const request = { ...full, ...org, sovereignty: { region: 'eu' } }
    expect((await client.provision('i', request)).status).toBe(201)
    const query = { ...full, dry_run: 'true' }
    expect((await client.deprovision('i', query)).status).toBe(200)
    expect(t.backend.done).toEqual(['provision i', 'deprovision i'])
  })

  requirement('GEN-03', 'an author may add fields of his own to what is fetched', async t => {
    const special = await another(t, {
      services: [
        bareService({ fetchInstance: ({ body }: { body: object }) => ({ ...body, 'x-acme-quota': { used: 7 } }) }),
      ],
    })
    await provisioned(special, 'i', bare)
    const { body } = await special.client.fetchInstance('i')
    expect(body).toMatchObject({ service_id: 'bare', 'x-acme-quota': { used: 7 } })
    const older = await special.createClient({ apiVersion: '2.14' }).fetchInstance('i')
    expect(older.body).toMatchObject({ 'x-acme-quota': { used: 7 } })
  })

  requirement('GEN-04', 'of itself the broker sends no field that the API does not have', async t => {
    const known = {
      catalog: ['services'],
      instance: ['dashboard_url', 'operation', 'metadata'],
      fetched: ['service_id', 'plan_id', 'dashboard_url', 'parameters', 'maintenance_info', 'metadata'],
      poll: ['state', 'description', 'instance_usable', 'update_repeatable'],
      binding: ['metadata', 'credentials', 'endpoints', 'parameters'],
      error: ['error', 'description'],
    }
    const { client } = t
    const seen: [keyof typeof known, object][] = [
      ['catalog', (await client.catalog()).body],
      ['instance', (await client.provision('i', { ...full, ...org }, incomplete)).body],
      ['poll', await t.ended('i')],
      ['instance', (await client.provision('i', { ...full, ...org })).body],
      ['fetched', (await client.fetchInstance('i')).body],
      ['instance', (await client.update('i', { service_id: 'full', parameters: { size: 2 } })).body],
      ['binding', (await client.bind('i', 'b', full)).body],
      ['binding', (await client.fetchBinding('i', 'b')).body],
      ['poll', (await client.lastBindingOperation('i', 'b')).body],
      ['error', (await client.fetchInstance('nobody')).body],
    ]
    for (const [kind, body] of seen) {
      expect(Object.keys(body).length).toBeGreaterThan(0)
      expect(known[kind]).toEqual(expect.arrayContaining(Object.keys(body)))
    }
  })

  requirement(['GEN-05', 'GEN-06'], 'unknown fields change nothing, in any body and in any query', async t => {
    const put = await t.request('PUT', '/v2/service_instances/i?x-acme=1&fresh=', {
      body: { ...full, ...org, ...unknown, context: { platform: 'cloudfoundry', 'x-acme': 1 } },
    })
    expect(put.status).toBe(201)
    const repeated = await t.request('PUT', '/v2/service_instances/i', {
      body: { ...full, ...org, context: { platform: 'cloudfoundry' } },
    })
    expect(repeated.status).toBe(200)
    const patch = await t.request('PATCH', '/v2/service_instances/i', {
      body: { service_id: 'full', parameters: { size: 3 }, ...unknown, previous_values: unknown },
    })
    expect(patch.status).toBe(200)
    const bind = await t.request('PUT', '/v2/service_instances/i/service_bindings/b', {
      body: { ...full, ...unknown, bind_resource: { ...unknown } },
    })
    expect(bind.status).toBe(201)
    const poll = await t.request('GET', '/v2/service_instances/i/last_operation?x-acme=1')
    expect(poll.body.state).toBe('succeeded')
    const got = await t.request('GET', '/v2/service_instances/i?x-acme=1')
    expect(got.body.parameters).toEqual({ size: 3 })
    const unbind = await t.request(
      'DELETE',
      '/v2/service_instances/i/service_bindings/b?service_id=full&plan_id=full-small&x=1',
    )
    expect([unbind.status, unbind.body]).toEqual([200, {}])
    expect(t.backend.done).toEqual(['provision i', 'update i', 'bind b', 'unbind b'])
  })

  requirement(
    'GEN-07',
    'platforms that differ by URL prefix cannot use the instances of each other',
    async t => {
      const east = t.createClient({ url: `${t.url}/east` })
      const west = t.createClient({ url: `${t.url}/west` })
      expect((await east.provision('i', { ...full, ...org })).status).toBe(201)
      expect((await east.fetchInstance('i')).status).toBe(200)
      await cannotUse(t, west)
      await cannotUse(t, t.client)
      expect((await east.deprovision('i', full)).status).toBe(200)
      expect((await west.provision('i', { ...full, ...org })).status).toBe(201)
    },
    { settings: { osb: { prefixes: ['east', 'west'] } } },
  )

  requirement(
    'GEN-07',
    'a URL prefix that the settings do not name is no platform: 404, nothing created',
    async t => {
      const refused = { status: 404, body: { error: 'NotFound', description: expect.stringContaining('osb.prefixes') } }
      for (const prefix of ['/eats', '/EAST', '/east/east', '/east%2F', '/%zz', '/'])
        for (const [method, path, body] of [
          ['GET', '/v2/catalog', undefined],
          ['PUT', '/v2/service_instances/i', { ...full, ...org }],
        ] as const)
          expect(await t.request(method, prefix + path, { body })).toMatchObject(refused)
      expect(await t.store.instance('i')).toBeUndefined()
      expect((await t.request('GET', '/east/v2/catalog')).status).toBe(200)
    },
    { settings: { osb: { prefixes: ['east'] } } },
  )

  requirement('GEN-07', 'platforms that differ by credentials cannot use the instances of each other', async t => {
    const users = ['east', 'west'].map(name => ({
      username: name,
      password: `password-${name}`,
      platform: name,
      roles: ['platform'] as const,
    }))
    const shared = await another(t, {
      services: createServices(t.backend),
      authenticator: createBasicAuthenticator(users),
    })
    const [east, west] = users.map(({ username, password }) => shared.createClient({ username, password }))
    expect((await east?.provision('i', { ...full, ...org }))?.status).toBe(201)
    await cannotUse(t, west)
    expect((await east?.fetchInstance('i'))?.status).toBe(200)
  })
})

/** Another platform's instance `i` cannot be read, used, changed or deleted. Its id is taken for everybody. */
async function cannotUse(t: Platform, other: Platform['client'] | undefined): Promise<void> {
  const before = [...t.backend.done]
  expect((await other?.fetchInstance('i'))?.status).toBe(404)
  expect((await other?.lastOperation('i'))?.status).toBe(404)
  expect((await other?.provision('i', { ...full, ...org }))?.status).toBe(409)
  expect((await other?.update('i', { service_id: 'full', parameters: { size: 2 } }))?.status).toBe(404)
  expect((await other?.bind('i', 'b', full))?.status).toBe(404)
  expect((await other?.deprovision('i', full))?.status).toBe(410)
  expect(t.backend.done).toEqual(before)
}
