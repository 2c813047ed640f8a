import { expect } from 'vitest'
import { defineService } from '../../src/index.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import { bare, bareService, incomplete, provisioned } from './helpers.ts'
import { full } from './services.ts'

const drain = { service_id: 'drain', plan_id: 'drain-plan' }
const route = { service_id: 'route', plan_id: 'route-plan' }
const volume = { service_id: 'volume', plan_id: 'volume-plan' }

/** Binds with what the service is made to return; answers the 201's body after it was found equal to repeat and fetch. */
async function bindBody(t: Platform, ids: typeof full, result: object): Promise<Record<string, unknown>> {
  await provisioned(t, 'i', ids)
  t.backend.bindResult = result
  const created = await t.client.bind('i', 'b', ids)
  expect(created.status).toBe(201)
  const again = await t.client.bind('i', 'b', ids)
  expect([again.status, again.body]).toEqual([200, created.body])
  const fetched = await t.client.fetchBinding('i', 'b')
  expect(fetched.status).toBe(200)
  expect(fetched.body).toEqual({ ...created.body, parameters: expect.anything() })
  return { ...created.body }
}

/** What a platform could not use fails the bind, says which field is wrong, and can be unbound. */
async function expectRefused(t: Platform, ids: typeof full, results: readonly (readonly [object, string])[]) {
  await provisioned(t, 'i', ids)
  for (const [index, [result, word]] of results.entries()) {
    t.backend.bindResult = result
    const { status, body } = await t.client.bind('i', `b${index}`, ids)
    expect([status, body.error]).toEqual([500, 'ActionFailed'])
    expect(body.description).toContain(word)
    expect((await t.client.fetchBinding('i', `b${index}`)).status).toBe(404)
    expect((await t.client.unbind('i', `b${index}`, ids)).status).toBe(200)
  }
  expect([...t.backend.things]).toEqual(['instance:i'])
}

async function requires(t: Platform, serviceId: string) {
  const { body } = await t.client.catalog()
  return body.services?.find(({ id }) => id === serviceId)?.requires
}

const mount = {
  driver: 'nfs',
  containerDir: '/data',
  mode: 'rw',
  deviceType: 'shared',
  device: { volumeId: 'v-1', mountConfig: { server: 'nfs.example' } },
}
const mounts = (more: object) => ({ volumeMounts: [{ ...mount, ...more }] })

/** Proxies the application's address, unless it is told that this is arranged elsewhere. */
const proxy = defineService({
  ...bareService({ bindable: true, requires: ['route_forwarding'] }),
  async bind(ctx) {
    const { route: address } = ctx.binding.bindResource
    if (ctx.binding.bindResource.outOfBand === true) return undefined
    return { routeServiceUrl: `https://proxy.example/${address}?limit=${JSON.stringify(ctx.parameters)}` }
  },
  async unbind() {},
})

conformance('Data of a binding', () => {
  requirement('SYSLOG-01', 'the URL of a log drain reaches the platform', async t => {
    const body = await bindBody(t, drain, { syslogDrainUrl: 'syslog-tls://logs.example:6514' })
    expect(body).toEqual({ syslog_drain_url: 'syslog-tls://logs.example:6514' })
  })

  requirement(['SYSLOG-01', 'SYSLOG-02'], 'a drain that is not a string, or not declared, fails the bind', async t => {
    expect(await requires(t, 'drain')).toEqual(['syslog_drain'])
    await expectRefused(t, full, [[{ syslogDrainUrl: 'syslog://logs.example' }, "requires: ['syslog_drain']"]])
    t.backend.bindResult = undefined
    expect((await t.client.deprovision('i', full)).status).toBe(200)
    await expectRefused(t, drain, [
      [{ syslogDrainUrl: 5 }, 'syslogDrainUrl'],
      [{ syslogDrainUrl: '' }, 'syslogDrainUrl'],
    ])
  })

  requirement('ROUTE-01', 'a route service URL that is not declared fails the bind', async t => {
    expect(await requires(t, 'route')).toEqual(['route_forwarding'])
    await expectRefused(t, full, [[{ routeServiceUrl: 'https://proxy.example' }, "requires: ['route_forwarding']"]])
  })

  requirement(
    ['ROUTE-03', 'ROUTE-04'],
    'the service is told address and parameters, and its URL reaches the platform',
    async t => {
      await provisioned(t, 'i', bare)
      const request = { ...bare, bind_resource: { route: 'app.example' }, parameters: { perMinute: 9 } }
      const { status, body } = await t.client.bind('i', 'b', request)
      const url = 'https://proxy.example/app.example?limit={"perMinute":9}'
      expect([status, body]).toEqual([201, { route_service_url: url }])
      expect((await t.client.fetchBinding('i', 'b')).body.route_service_url).toBe(url)
    },
    { services: [proxy] },
  )

  requirement(
    'ROUTE-05',
    'no URL is sent where the proxying is arranged out of band',
    async t => {
      await provisioned(t, 'i', bare)
      const request = { ...bare, bind_resource: { route: 'app.example', outOfBand: true } }
      const { status, text } = await t.client.bind('i', 'b', request)
      expect([status, text]).toEqual([201, '{}'])
      expect((await t.client.fetchBinding('i', 'b')).text).not.toContain('route_service_url')
    },
    { services: [proxy] },
  )

  requirement('ROUTE-04', 'a URL that is not a string fails the bind', async t => {
    await expectRefused(t, route, [
      [{ routeServiceUrl: { url: 'https://proxy.example' } }, 'routeServiceUrl'],
      [{ routeServiceUrl: '' }, 'routeServiceUrl'],
    ])
  })

  requirement(['VOL-01', 'VOL-03', 'VOL-04'], 'volume mounts reach the platform with all their keys', async t => {
    const readonly = { ...mount, mode: 'r', containerDir: '/more', device: { volumeId: 'v-2' } }
    const body = await bindBody(t, volume, { volumeMounts: [mount, readonly] })
    expect(body).toEqual({
      volume_mounts: [
        {
          driver: 'nfs',
          container_dir: '/data',
          mode: 'rw',
          device_type: 'shared',
          device: { volume_id: 'v-1', mount_config: { server: 'nfs.example' } },
        },
        { driver: 'nfs', container_dir: '/more', mode: 'r', device_type: 'shared', device: { volume_id: 'v-2' } },
      ],
    })
  })

  requirement('VOL-02', 'volume mounts that are not declared fail the bind', async t => {
    expect(await requires(t, 'volume')).toEqual(['volume_mount'])
    await expectRefused(t, full, [[mounts({}), "requires: ['volume_mount']"]])
  })

  requirement(['VOL-03', 'VOL-04'], 'a mount that lacks something, or has it wrong, fails the bind', async t => {
    await expectRefused(t, volume, [
      [mounts({ driver: '' }), 'driver'],
      [mounts({ driver: undefined }), 'driver'],
      [mounts({ containerDir: 5 }), 'containerDir'],
      [mounts({ mode: 'w' }), 'mode'],
      [mounts({ deviceType: 'block' }), 'deviceType'],
      [mounts({ device: undefined }), 'device'],
      [mounts({ device: { mountConfig: {} } }), 'volumeId'],
      [mounts({ device: { volumeId: 'v', mountConfig: 'server=nfs' } }), 'mountConfig'],
    ])
  })

  requirement(['ENDP-01', 'ENDP-02'], 'endpoints reach the platform complete and in their order', async t => {
    const endpoints = [
      { host: 'db.example', ports: ['5432'] },
      { host: '10.0.0.7', ports: ['9000-9010', '9100'], protocol: 'udp' },
      { host: 'db.internal', ports: ['1'], protocol: 'all' },
    ]
    expect(await bindBody(t, full, { credentials: {}, endpoints })).toEqual({ credentials: {}, endpoints })
  })

  requirement('ENDP-03', 'an endpoint that lacks something, or has it wrong, fails the bind', async t => {
    const endpoint = (more: object) => ({ endpoints: [{ host: 'db.example', ports: ['1'], ...more }] })
    await expectRefused(t, full, [
      [endpoint({ host: '' }), 'host'],
      [endpoint({ host: undefined }), 'host'],
      [endpoint({ ports: [] }), 'ports'],
      [endpoint({ ports: undefined }), 'ports'],
      [endpoint({ ports: [5432] }), 'ports'],
      [endpoint({ ports: ['http'] }), 'ports'],
      [endpoint({ protocol: 'icmp' }), 'protocol'],
    ])
  })

  requirement('BMETA-01', 'metadata holds nothing but the times: anything else fails the bind', async t => {
    const metadata = { expiresAt: '2026-12-31T23:59:59Z', host: 'db.example' }
    await expectRefused(t, full, [[{ credentials: {}, metadata }, 'metadata.host is not known here']])
  })

  requirement(
    ['BMETA-02', 'BMETA-03', 'BMETA-06'],
    'times are sent in UTC with a fraction, however the service gives them, and again by a fetch',
    async t => {
      const expiresAt = '2026-12-31T23:59:59+02:00'
      const body = await bindBody(t, full, {
        credentials: {},
        metadata: { expiresAt, renewBefore: new Date(Date.UTC(2026, 11, 1)) },
      })
      const metadata = { expires_at: '2026-12-31T21:59:59.000Z', renew_before: '2026-12-01T00:00:00.000Z' }
      expect(body).toEqual({ credentials: {}, metadata })
      for (const time of Object.values(metadata)) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/)
      await t.client.bind('i', 'c', full, incomplete)
      await t.ended('i', 'c')
      expect((await t.client.fetchBinding('i', 'c')).body.metadata).toEqual(metadata)
    },
  )

  requirement(['BMETA-02', 'BMETA-03'], 'times that are none, or in the wrong order, fail the bind', async t => {
    await expectRefused(t, full, [
      [{ metadata: { expiresAt: 'tomorrow' } }, 'expiresAt'],
      [{ metadata: { expiresAt: '2026-12-31T00:00:00Z', renewBefore: '2027-01-01T00:00:00Z' } }, 'renewBefore'],
    ])
  })

  requirement('BMETA-04', 'between renew_before and expires_at there is time for a successor', async t => {
    const at = (hours: number) => new Date(t.clock.now() + hours * 3_600_000)
    const body = await bindBody(t, full, { credentials: {}, metadata: { expiresAt: at(0.1), renewBefore: at(0.05) } })
    const { renew_before, expires_at } = body.metadata as { renew_before: string; expires_at: string }
    expect(Date.parse(renew_before)).toBeLessThan(Date.parse(expires_at))
    await t.clock.advance(Date.parse(renew_before) - t.clock.now() + 1)
    t.backend.bindResult = undefined
    expect((await t.client.bind('i', 'c', { predecessor_binding_id: 'b' })).status).toBe(201)
    expect((await t.client.fetchBinding('i', 'b')).status).toBe(200)
  })
})
