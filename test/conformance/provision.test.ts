import { expect } from 'vitest'
import { TerminalError } from '../../src/index.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import { another, bare, bareService, incomplete, provisioned } from './helpers.ts'
import { full, org } from './services.ts'

const path = '/v2/service_instances/i'
const asked = { ...full, ...org }

/** No trace of an instance: neither here nor on the backend. */
async function expectNothing(t: Platform): Promise<void> {
  expect((await t.client.lastOperation('i')).status).toBe(404)
  expect((await t.client.deprovision('i', full)).status).toBe(410)
  expect(t.backend.done).toEqual([])
}

conformance('Provisioning', () => {
  requirement(['PROV-01', 'PROV-11'], 'a synchronous PUT creates the instance and answers 201', async t => {
    const { status, body } = await t.client.provision('i', asked)
    expect(status).toBe(201)
    expect(body).toEqual({ dashboard_url: 'https://dashboard.example/i' })
    expect([...t.backend.things]).toEqual(['instance:i'])
    expect((await t.client.fetchInstance('i')).status).toBe(200)
  })

  requirement('PROV-01', 'an asynchronous PUT has created the instance when the poll says so', async t => {
    expect((await t.client.provision('i', asked, incomplete)).status).toBe(202)
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    expect([...t.backend.things]).toEqual(['instance:i'])
  })

  requirement(
    'PROV-07',
    'parameters that do not fit the schema are refused, by name and without their value',
    async t => {
      for (const parameters of [{ size: 11 }, { size: 'secret-size' }, { name: 5 }]) {
        const { status, body } = await t.client.provision('i', { ...asked, parameters })
        expect(status).toBe(400)
        expect(body.error).toBe('InvalidParameters')
        expect(body.description).toContain(Object.keys(parameters)[0])
        expect(body.description).not.toContain('secret-size')
      }
      await expectNothing(t)
    },
  )

  requirement('PROV-09', 'another version than the catalog has is a MaintenanceInfoConflict', async t => {
    const conflict = { status: 422, body: { error: 'MaintenanceInfoConflict' } }
    for (const version of ['1.2.4', '1.2.3', 'Invalid'])
      expect(await t.client.provision('i', { ...asked, maintenance_info: { version } })).toMatchObject(conflict)
    const without = { ...asked, plan_id: 'full-fixed', maintenance_info: { version: '1.2.3+build.1' } }
    expect(await t.client.provision('i', without)).toMatchObject(conflict)
    await expectNothing(t)
    const right = { ...asked, maintenance_info: { version: '1.2.3+build.1' } }
    expect((await t.client.provision('i', right)).status).toBe(201)
    for (const [index, maintenance_info] of [{}, { version: '' }].entries())
      expect((await t.request('PUT', `${path}${index}`, { body: { ...asked, maintenance_info } })).status).toBe(201)
  })

  requirement('PROV-10', 'a repeat of a finished instance is 200 with the body of the 201', async t => {
    const first = await t.client.provision('i', asked)
    for (const options of [{}, incomplete]) {
      const again = await t.client.provision('i', asked, options)
      expect([again.status, again.body]).toEqual([200, first.body])
    }
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement(['PROV-12', 'PROV-13'], 'a repeated PUT while creating answers 202 with the first operation', async t => {
    const release = t.backend.hold('provision')
    const first = await t.client.provision('i', asked, incomplete)
    const second = await t.client.provision('i', asked, incomplete)
    expect([first.status, second.status]).toEqual([202, 202])
    expect(first.body.operation).toEqual(expect.any(String))
    expect(second.body.operation).toBe(first.body.operation)
    release()
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    expect(t.backend.done).toEqual(['provision i'])
    expect((await t.client.provision('i', asked, incomplete)).status).toBe(200)
  })

  requirement('PROV-14', 'what is malformed or lacks mandatory data is 400 and creates nothing', async t => {
    const { service_id: _s, ...noService } = asked
    const { plan_id: _p, ...noPlan } = asked
    const { organization_guid: _o, ...noOrg } = asked
    const { space_guid: _g, ...noSpace } = asked
    const bodies: [unknown, string][] = [
      ['{', 'JSON'],
      ['[]', 'object'],
      ['', 'empty'],
      [noService, 'service_id'],
      [noPlan, 'plan_id'],
      [noOrg, 'organization_guid'],
      [noSpace, 'space_guid'],
      [{ ...asked, service_id: '' }, 'service_id'],
      [{ ...asked, plan_id: 5 }, 'plan_id'],
      [{ ...asked, space_guid: '' }, 'space_guid'],
      [{ ...asked, parameters: 'x' }, 'parameters'],
      [{ ...asked, context: [] }, 'context'],
      [{ ...asked, maintenance_info: 'x' }, 'maintenance_info'],
    ]
    for (const [body, word] of bodies) {
      const answer = await t.request('PUT', path, { body })
      expect(answer).toMatchObject({ status: 400, body: { error: 'MalformedRequest' } })
      expect(answer.body.description).toContain(word)
    }
    await expectNothing(t)
  })

  requirement('PROV-15', 'other attributes under an id that is there, or being created, are a conflict', async t => {
    const release = t.backend.hold('provision')
    const { body } = await t.client.provision('i', { ...asked, parameters: { size: 2 } }, incomplete)
    const others = [
      asked,
      { ...asked, parameters: { size: 3 } },
      { ...asked, parameters: { size: 2 }, plan_id: 'full-large' },
      { ...asked, parameters: { size: 2 }, space_guid: 'space-2' },
      { ...asked, parameters: { size: 2 }, service_id: 'plain', plan_id: 'plain-plan' },
    ]
    const expectConflicts = async () => {
      for (const other of others)
        expect(await t.client.provision('i', other, incomplete)).toMatchObject({
          status: 409,
          body: { error: 'InstanceConflict' },
        })
    }
    await expectConflicts()
    release()
    expect(await t.ended('i', undefined, body.operation ?? '')).toMatchObject({ state: 'succeeded' })
    await expectConflicts()
    expect((await t.client.fetchInstance('i')).body).toMatchObject({ plan_id: 'full-small', parameters: { size: 2 } })
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement('PROV-16', 'a service that is always asynchronous needs accepts_incomplete=true', async t => {
    const request = { service_id: 'always-async', plan_id: 'always-async-plan', ...org }
    for (const query of [{}, { accepts_incomplete: 'false' }, { accepts_incomplete: '' }]) {
      const answer = await t.client.provision('i', request, { query })
      expect(answer).toMatchObject({ status: 422, body: { error: 'AsyncRequired' } })
    }
    expect((await t.client.lastOperation('i')).status).toBe(404)
    expect((await t.client.provision('i', request, incomplete)).status).toBe(202)
  })

  requirement('PROV-17', 'the first 202 brings the dashboard that the service can name at once', async t => {
    const release = t.backend.hold('provision')
    const request = { service_id: 'client', plan_id: 'client-plan', ...org }
    const { status, body } = await t.client.provision('i', request, incomplete)
    release()
    expect(status).toBe(202)
    expect(body.dashboard_url).toBe('https://known.example/i')
  })

  requirement('PROV-17', 'the first 202 brings a URL that leads to a dashboard not known yet', async t => {
    const release = t.backend.hold('provision')
    const { status, body } = await t.client.provision('i', asked, incomplete)
    expect(status).toBe(202)
    const visit = () => t.fetch(new Request(body.dashboard_url ?? '', { redirect: 'manual' }))
    expect(new URL(body.dashboard_url ?? '').pathname).toContain('/i/')
    expect((await visit()).status).toBe(503)
    expect((await t.client.provision('i', asked, incomplete)).body.dashboard_url).toBe(body.dashboard_url)
    release()
    await t.ended('i')
    const response = await visit()
    expect([response.status, response.headers.get('location')]).toEqual([302, 'https://dashboard.example/i'])
  })

  requirement('PROV-17', 'the first 202 brings no URL where the service promises no dashboard', async t => {
    const request = { service_id: 'plain', plan_id: 'plain-plan', ...org }
    const { status, body } = await t.client.provision('i', request, incomplete)
    expect([status, Object.keys(body)]).toEqual([202, ['operation']])
    await t.ended('i')
    // What the action returned is shown once it is known.
    expect((await t.client.provision('i', request)).body).toEqual({ dashboard_url: 'https://dashboard.example/i' })
  })

  requirement('PROV-18', 'operation is a string of at most 10 000 characters and survives a query', async t => {
    const { body } = await t.client.provision('i'.repeat(200), asked, incomplete)
    expect(body.operation?.length).toBeGreaterThan(0)
    expect(body.operation?.length).toBeLessThanOrEqual(10_000)
    expect(await t.ended('i'.repeat(200), undefined, body.operation ?? '')).toMatchObject({ state: 'succeeded' })
  })

  const labelled = bareService({ provision: async () => ({ metadata: { labels: { tier: 'gold' } } }) })
  requirement(
    'PROV-20',
    'metadata of the service is returned',
    async t => {
      const { status, body } = await t.client.provision('i', { ...bare, ...org })
      expect([status, body]).toEqual([201, { metadata: { labels: { tier: 'gold' } } }])
    },
    { services: [labelled] },
  )

  requirement('PROV-22', 'an unknown service, an unknown plan and the plan of another service are 400', async t => {
    for (const [ids, error] of [
      [{ service_id: 'nobody', plan_id: 'full-small' }, 'UnknownService'],
      [{ service_id: 'full', plan_id: 'nobody' }, 'UnknownPlan'],
      [{ service_id: 'full', plan_id: 'plain-plan' }, 'UnknownPlan'],
    ] as const)
      expect(await t.client.provision('i', { ...ids, ...org })).toMatchObject({ status: 400, body: { error } })
    await expectNothing(t)
  })

  requirement('PROV-23', 'attributes are what was asked for and where it belongs, nothing else', async t => {
    const place = { platform: 'cloudfoundry', ...org }
    const first = { ...asked, context: { ...place, space_name: 'old' }, parameters: { size: 2, name: 'n' } }
    expect((await t.client.provision('i', first)).status).toBe(201)
    const identity = { 'x-broker-api-originating-identity': 'cloudfoundry e30=' }
    const change = { service_id: 'full', parameters: { size: 5 } }
    const expectSame = async () => {
      for (const same of [
        { ...first, parameters: { name: 'n', size: 2 } },
        { ...first, context: { space_name: 'new', organization_annotations: { a: 'b' }, ...place } },
        { ...first, maintenance_info: { version: '1.2.3+build.1' } },
      ])
        expect((await t.client.provision('i', same, { headers: identity })).status).toBe(200)
    }
    await expectSame()
    for (const context of [
      { ...place, platform: 'other' },
      { ...place, namespace: 'n' },
      { ...place, clusterid: 'c' },
    ])
      expect((await t.client.provision('i', { ...first, context })).status).toBe(409)
    expect((await t.client.update('i', change)).status).toBe(200)
    await expectSame()
    expect((await t.client.provision('i', { ...first, parameters: { size: 5, name: 'n' } })).status).toBe(409)

    await provisioned(t, 'j')
    for (const parameters of [{}, null])
      expect((await t.request('PUT', '/v2/service_instances/j', { body: { ...asked, parameters } })).status).toBe(200)
  })

  requirement('PROV-24', 'after a failed creation the id stays known: it can be polled and tried again', async t => {
    t.backend.failNext('provision', new TerminalError('There is no room left.'))
    const first = await t.client.provision('i', asked, incomplete)
    const failed = { state: 'failed', description: 'There is no room left.' }
    expect(await t.ended('i')).toEqual(failed)
    await t.clock.advance(60_000)
    expect(await t.ended('i', undefined, first.body.operation ?? '')).toEqual(failed)
    expect((await t.client.fetchInstance('i')).status).toBe(404)
    const again = await t.client.provision('i', asked, incomplete)
    expect(again.status).toBe(202)
    expect(again.body.operation).not.toBe(first.body.operation)
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    expect(await t.ended('i', undefined, first.body.operation ?? '')).toEqual(failed)
  })

  requirement('PROV-24', 'a failed creation is cleaned up by a DELETE', async t => {
    const things = new Set<string>()
    const halfway = bareService({
      async provision() {
        things.add('half')
        throw new TerminalError('The second half is missing.')
      },
      async deprovision() {
        things.delete('half')
      },
    })
    const platform = await another(t, { services: [halfway] })
    expect((await platform.client.provision('i', { ...bare, ...org }, incomplete)).status).toBe(202)
    expect(await platform.ended('i')).toMatchObject({ state: 'failed' })
    expect([...things]).toEqual(['half'])
    expect(await platform.client.deprovision('i', bare)).toMatchObject({ status: 200, body: {} })
    expect([...things]).toEqual([])
    expect((await platform.client.deprovision('i', bare)).status).toBe(410)
  })
})
