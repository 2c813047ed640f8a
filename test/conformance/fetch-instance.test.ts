import { expect } from 'vitest'
import { defineService, TerminalError } from '../../src/index.ts'
import { conformance, requirement } from './harness.ts'
import { bare, bareService, incomplete, provisioned } from './helpers.ts'
import { full, org } from './services.ts'

const asked = { ...full, ...org }
const path = '/v2/service_instances/i'
const plain = { service_id: 'plain', plan_id: 'plain-plan' }

/** Its update gives a new set of labels, then keeps what there is. */
const labelled = defineService({
  ...bareService(),
  async provision() {
    return { metadata: { labels: { tier: 'gold', region: 'eu' }, attributes: { quota: '5' } } }
  },
  async update(ctx) {
    if (ctx.instance.parameters.keep === true) return undefined
    return { metadata: { labels: { tier: 'silver' }, attributes: { quota: '9' } } }
  },
})

const discreet = defineService({
  ...bareService(),
  fetchInstance({ body }) {
    const { parameters: _, ...rest } = body
    return rest
  },
})

conformance('Fetching an instance', () => {
  requirement('GETI-01', 'instances of every plan can be fetched as soon as the poll says succeeded', async t => {
    const { body } = await t.client.catalog()
    const offering = body.services?.find(({ id }) => id === 'full')
    expect(offering?.instances_retrievable).toBe(true)
    expect(offering?.plans.length).toBeGreaterThan(1)
    for (const { id } of offering?.plans ?? []) {
      await t.client.provision(id, { ...asked, plan_id: id }, incomplete)
      expect(await t.ended(id)).toMatchObject({ state: 'succeeded' })
      expect(await t.client.fetchInstance(id)).toMatchObject({ status: 200, body: { plan_id: id } })
    }
  })

  requirement('GETI-05', 'the query names a hint, no more: it may be absent and decides nothing', async t => {
    await provisioned(t)
    const without = await t.client.fetchInstance('i')
    expect(without.status).toBe(200)
    for (const query of [full, { service_id: 'full' }, { plan_id: 'full-large' }]) {
      const hinted = await t.client.fetchInstance('i', query)
      expect([hinted.status, hinted.body]).toEqual([200, without.body])
    }
  })

  requirement(
    'GETI-06',
    'the answer has the ids, the dashboard, the parameters with defaults, the version',
    async t => {
      expect((await t.client.provision('i', { ...asked, parameters: { name: 'mine' } })).status).toBe(201)
      const { status, body } = await t.client.fetchInstance('i')
      expect(status).toBe(200)
      expect(body).toEqual({
        ...full,
        dashboard_url: 'https://dashboard.example/i',
        parameters: { name: 'mine', size: 1 },
        maintenance_info: { version: '1.2.3+build.1' },
      })
    },
  )

  requirement('GETI-07', 'what is unknown, still being created, failed or deleted is 404', async t => {
    const missing = { status: 404, body: { error: 'InstanceNotFound' } }
    expect(await t.client.fetchInstance('i')).toMatchObject(missing)
    const release = t.backend.hold('provision')
    await t.client.provision('i', asked, incomplete)
    expect(await t.client.fetchInstance('i')).toMatchObject(missing)
    release()
    await t.ended('i')
    expect((await t.client.fetchInstance('i')).status).toBe(200)
    t.backend.failNext('provision', new TerminalError('No.'))
    await t.client.provision('j', asked, incomplete)
    expect(await t.ended('j')).toMatchObject({ state: 'failed' })
    expect(await t.client.fetchInstance('j')).toMatchObject(missing)
    expect((await t.client.deprovision('i', full)).status).toBe(200)
    expect(await t.client.fetchInstance('i')).toMatchObject(missing)
  })

  requirement('GETI-08', 'an instance that is being updated is a ConcurrencyError', async t => {
    await provisioned(t)
    const release = t.backend.hold('update')
    await t.client.update('i', { service_id: 'full', parameters: { size: 2 } }, incomplete)
    expect(await t.client.fetchInstance('i')).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } })
    release()
    await t.ended('i')
    expect(await t.client.fetchInstance('i')).toMatchObject({ status: 200, body: { parameters: { size: 2 } } })
  })

  requirement(
    'GETI-10',
    'a service may hold its parameters back',
    async t => {
      const request = { ...bare, ...org, parameters: { password: 'secret' } }
      expect((await t.client.provision('i', request)).status).toBe(201)
      const { status, body, text } = await t.client.fetchInstance('i')
      expect([status, body]).toEqual([200, bare])
      expect(text).not.toContain('secret')
    },
    { services: [discreet] },
  )

  requirement('GETI-11', 'maintenance_info is what the instance runs on, if its plan has one', async t => {
    await provisioned(t)
    const version = async () => (await t.client.fetchInstance('i')).body.maintenance_info
    expect(await version()).toEqual({ version: '1.2.3+build.1' })
    const release = t.backend.hold('update')
    await t.client.update('i', { service_id: 'full', plan_id: 'full-large' }, incomplete)
    release()
    await t.ended('i')
    expect(await version()).toEqual({ version: '2.0.0' })
    t.backend.failNext('update', new TerminalError('No.'))
    expect((await t.client.update('i', { service_id: 'full', plan_id: 'full-small' })).status).toBe(500)
    expect(await version()).toEqual({ version: '2.0.0' })
    expect((await t.client.update('i', { service_id: 'full', plan_id: 'full-unbindable' })).status).toBe(200)
    expect(await version()).toBeUndefined()
  })

  requirement('GETI-12', 'a finished update shows, and what is not set is left out', async t => {
    await provisioned(t)
    const change = { service_id: 'full', plan_id: 'full-unbindable', parameters: { name: 'new' } }
    expect((await t.client.update('i', change)).status).toBe(200)
    expect((await t.client.fetchInstance('i')).body).toEqual({
      service_id: 'full',
      plan_id: 'full-unbindable',
      dashboard_url: 'https://dashboard.example/i',
      parameters: { size: 1, name: 'new' },
    })
  })

  requirement(
    'GETI-12',
    'an instance without a dashboard has no dashboard_url, not even null',
    async t => {
      await provisioned(t, 'i', bare)
      expect((await t.client.fetchInstance('i')).body).toEqual({ ...bare, parameters: {} })
    },
    { services: [bareService()] },
  )

  requirement('GETI-13', 'a service whose instances cannot be fetched answers 404', async t => {
    const { body } = await t.client.catalog()
    expect(body.services?.find(({ id }) => id === 'plain')?.instances_retrievable).not.toBe(true)
    await provisioned(t, 'i', plain)
    expect(await t.client.fetchInstance('i')).toMatchObject({ status: 404, body: { error: 'InstanceNotFound' } })
    expect((await t.client.lastOperation('i')).body.state).toBe('succeeded')
  })

  requirement(
    ['IMETA-01', 'IMETA-03', 'IMETA-05'],
    'labels and attributes are the same from provision, update and fetch, and always the current ones',
    async t => {
      const first = { labels: { tier: 'gold', region: 'eu' }, attributes: { quota: '5' } }
      const second = { labels: { tier: 'silver' }, attributes: { quota: '9' } }
      const fetched = async () => (await t.client.fetchInstance('i')).body.metadata
      const created = await t.client.provision('i', { ...bare, ...org })
      expect([created.status, created.body.metadata]).toEqual([201, first])
      expect((await t.client.provision('i', { ...bare, ...org })).body.metadata).toEqual(first)
      expect(await fetched()).toEqual(first)
      const updated = await t.client.update('i', { service_id: 'bare', parameters: {} })
      expect([updated.status, updated.body.metadata]).toEqual([200, second])
      expect(await fetched()).toEqual(second)
      const kept = await t.client.update('i', { service_id: 'bare', parameters: { keep: true } })
      expect([kept.status, kept.body.metadata]).toEqual([200, second])
      expect(await fetched()).toEqual(second)
      const older = { 'x-broker-api-version': '2.16' }
      expect((await t.request('PUT', path, { headers: older, body: { ...bare, ...org } })).body.metadata).toEqual({
        labels: { tier: 'silver' },
      })
    },
    { services: [labelled] },
  )
})
