import { expect } from 'vitest'
import { defineService, TerminalError } from '../../src/index.ts'
import { conformance, requirement } from './harness.ts'
import { bare, bareService, bound, incomplete, provisioned } from './helpers.ts'
import { full, org } from './services.ts'

const missing = { status: 404, body: { error: 'BindingNotFound' } }

/** Returns everything that a binding can have. */
const rich = defineService({
  ...bareService({ bindable: true, requires: ['syslog_drain', 'route_forwarding', 'volume_mount'] }),
  async bind() {
    return {
      credentials: { user: 'u' },
      syslogDrainUrl: 'syslog://logs.example',
      routeServiceUrl: 'https://proxy.example',
      volumeMounts: [
        { driver: 'nfs', containerDir: '/data', mode: 'r', deviceType: 'shared', device: { volumeId: 'v' } },
      ],
      endpoints: [{ host: 'db.example', ports: ['5432'] }],
      metadata: { expiresAt: '2026-12-31T23:59:59.5Z', renewBefore: '2026-12-01T00:00:00Z' },
    }
  },
  async unbind() {},
})

const discreet = defineService({
  ...bareService({ bindable: true }),
  async bind() {
    return { credentials: { user: 'u' } }
  },
  async unbind() {},
  fetchBinding({ body }) {
    const { parameters: _, ...rest } = body
    return rest
  },
})

conformance('Fetching a binding', () => {
  requirement('GETB-01', 'bindings of every bindable plan can be fetched when the poll says succeeded', async t => {
    const { body } = await t.client.catalog()
    const offering = body.services?.find(({ id }) => id === 'full')
    expect(offering?.bindings_retrievable).toBe(true)
    const bindable = offering?.plans.filter(plan => plan.bindable ?? offering.bindable) ?? []
    expect(bindable.length).toBeGreaterThan(1)
    for (const { id } of bindable) {
      const ids = { service_id: 'full', plan_id: id }
      await provisioned(t, id, ids)
      await t.client.bind(id, 'b', ids, incomplete)
      expect(await t.ended(id, 'b')).toMatchObject({ state: 'succeeded' })
      expect((await t.client.fetchBinding(id, 'b', ids)).status).toBe(200)
    }
  })

  requirement('GETB-01', 'a service whose bindings cannot be fetched does not say so, and answers 404', async t => {
    const client = { service_id: 'client', plan_id: 'client-plan' }
    const { body } = await t.client.catalog()
    expect(body.services?.find(({ id }) => id === 'client')?.bindings_retrievable).not.toBe(true)
    await provisioned(t, 'i', client)
    await bound(t, 'i', 'b', client)
    expect(await t.client.fetchBinding('i', 'b')).toMatchObject(missing)
  })

  requirement(
    ['GETB-03', 'GETB-07'],
    'the answer has everything that the bind gave, declared as it must be, and the parameters',
    async t => {
      const { body } = await t.client.catalog()
      expect(body.services?.[0]?.requires).toEqual(['syslog_drain', 'route_forwarding', 'volume_mount'])
      await provisioned(t, 'i', bare)
      await t.client.bind('i', 'b', { ...bare, parameters: { a: 1 } }, incomplete)
      await t.ended('i', 'b')
      const fetched = await t.client.fetchBinding('i', 'b')
      expect([fetched.status, fetched.body]).toEqual([
        200,
        {
          credentials: { user: 'u' },
          syslog_drain_url: 'syslog://logs.example',
          route_service_url: 'https://proxy.example',
          volume_mounts: [
            { driver: 'nfs', container_dir: '/data', mode: 'r', device_type: 'shared', device: { volume_id: 'v' } },
          ],
          endpoints: [{ host: 'db.example', ports: ['5432'] }],
          metadata: { expires_at: '2026-12-31T23:59:59.500Z', renew_before: '2026-12-01T00:00:00.000Z' },
          parameters: { a: 1 },
        },
      ])
    },
    { services: [rich] },
  )

  requirement('GETB-04', 'what is unknown, still being created, failed or deleted is 404', async t => {
    expect(await t.client.fetchBinding('i', 'b')).toMatchObject(missing)
    await provisioned(t)
    expect(await t.client.fetchBinding('i', 'b')).toMatchObject(missing)
    const release = t.backend.hold('bind')
    await t.client.bind('i', 'b', full, incomplete)
    expect(await t.client.fetchBinding('i', 'b')).toMatchObject(missing)
    release()
    await t.ended('i', 'b')
    expect((await t.client.fetchBinding('i', 'b')).status).toBe(200)
    t.backend.failNext('bind', new TerminalError('No.'))
    await t.client.bind('i', 'c', full, incomplete)
    expect(await t.ended('i', 'c')).toMatchObject({ state: 'failed' })
    expect(await t.client.fetchBinding('i', 'c')).toMatchObject(missing)
    expect((await t.client.unbind('i', 'b', full)).status).toBe(200)
    expect(await t.client.fetchBinding('i', 'b')).toMatchObject(missing)
  })

  requirement('GETB-06', 'credentials of a binding that was made asynchronously are there, every time', async t => {
    const ids = { service_id: 'always-async', plan_id: 'always-async-plan' }
    await t.client.provision('i', { ...ids, ...org }, incomplete)
    await t.ended('i')
    const accepted = await t.client.bind('i', 'b', ids, incomplete)
    expect([accepted.status, accepted.body.credentials]).toEqual([202, undefined])
    await t.ended('i', 'b')
    for (let fetch = 0; fetch < 2; fetch++)
      expect((await t.client.fetchBinding('i', 'b')).body.credentials).toEqual({ username: 'b', password: 'secret-b' })
  })

  requirement(
    'GETB-08',
    'a service may hold the parameters back',
    async t => {
      await provisioned(t, 'i', bare)
      expect((await t.client.bind('i', 'b', { ...bare, parameters: { key: 'secret' } })).status).toBe(201)
      const { status, body, text } = await t.client.fetchBinding('i', 'b')
      expect([status, body]).toEqual([200, { credentials: { user: 'u' } }])
      expect(text).not.toContain('secret')
    },
    { services: [discreet] },
  )

  requirement('GETB-09', 'a binding under the id of another instance is 404', async t => {
    await provisioned(t, 'i')
    await provisioned(t, 'j')
    await bound(t, 'i', 'b')
    expect(await t.client.fetchBinding('j', 'b')).toMatchObject(missing)
    await bound(t, 'j', 'c')
    expect(await t.client.fetchBinding('i', 'c')).toMatchObject(missing)
    expect((await t.client.fetchBinding('i', 'b')).status).toBe(200)
  })
})
