import { expect } from 'vitest'
import { defineService } from '../../src/index.ts'
import { conformance, requirement } from './harness.ts'
import { another, bareService, incomplete, provisioned } from './helpers.ts'
import { createServices, full, org } from './services.ts'

const service_id = 'full'
const path = '/v2/service_instances/i'
const plan = (id: string, more: object = {}) => ({ id, name: id, description: `The plan ${id}`, ...more })

/** An update schema of their own for each plan. */
const sized = (max: number) => ({
  serviceInstance: {
    update: {
      parameters: {
        $schema: 'http://json-schema.org/draft-04/schema#',
        type: 'object',
        properties: { size: { type: 'integer', maximum: max } },
      },
    },
  },
})
const planned = defineService({
  ...bareService({ planUpdateable: true }),
  plans: [plan('low', { schemas: sized(5) }), plan('high', { schemas: sized(50) })],
  async update() {},
})

/** The offering says nothing of plan changes; one of its plans does. */
const byPlan = defineService({
  ...bareService(),
  plans: [plan('open', { planUpdateable: true }), plan('closed')],
  async update() {},
})

const byPlanDashboard = defineService({
  ...bareService({ planUpdateable: true }),
  plans: [plan('old'), plan('new')],
  dashboard: instance => `https://dashboard.example/${instance.planId}`,
  async update() {},
})

const byAction = defineService({
  ...bareService(),
  dashboard: 'redirect',
  async provision() {
    return { dashboardUrl: 'https://dashboard.example/old' }
  },
  async update() {
    return { dashboardUrl: 'https://dashboard.example/new' }
  },
})

conformance('Updating an instance', () => {
  requirement('UPD-01', 'a plan can be left only where it, or else its offering, is updateable', async t => {
    await provisioned(t, 'i', { service_id, plan_id: 'full-fixed' })
    const refused = await t.client.update('i', { service_id, plan_id: 'full-small' })
    expect(refused).toMatchObject({ status: 422, body: { error: 'PlanChangeNotSupported' } })
    expect((await t.client.fetchInstance('i')).body.plan_id).toBe('full-fixed')
    expect(t.backend.done).toEqual(['provision i'])
    expect((await t.client.update('i', { service_id, plan_id: 'full-fixed', parameters: { size: 2 } })).status).toBe(
      200,
    )
    await provisioned(t, 'j')
    expect((await t.client.update('j', { service_id, plan_id: 'full-fixed' })).status).toBe(200)
    const { body } = await t.client.catalog()
    const offering = body.services?.find(({ id }) => id === service_id)
    expect(offering?.plan_updateable).toBe(true)
    expect(offering?.plans.find(({ id }) => id === 'full-fixed')?.plan_updateable).toBe(false)
  })

  requirement(
    'UPD-01',
    'a plan may say that it is updateable where the offering does not',
    async t => {
      await provisioned(t, 'i', { service_id: 'bare', plan_id: 'open' })
      expect((await t.client.update('i', { service_id: 'bare', plan_id: 'closed' })).status).toBe(200)
      const back = await t.client.update('i', { service_id: 'bare', plan_id: 'open' })
      expect(back).toMatchObject({ status: 422, body: { error: 'PlanChangeNotSupported' } })
      expect((await t.client.fetchInstance('i')).body.plan_id).toBe('closed')
    },
    { services: [byPlan] },
  )

  requirement('UPD-04', 'the catalog invites updates of the context alone, and they reach the service', async t => {
    const { body } = await t.client.catalog()
    expect(body.services?.find(({ id }) => id === service_id)?.allow_context_updates).toBe(true)
    await provisioned(t)
    const context = { platform: 'cloudfoundry', space_name: 'renamed' }
    expect((await t.client.update('i', { service_id, context })).status).toBe(200)
    expect(t.backend.done).toEqual(['provision i', 'update i'])
    expect((await t.store.instance('i'))?.context).toEqual({ ...org, ...context })
  })

  requirement(['UPD-08', 'UPD-09'], 'what a request leaves out stays as it is', async t => {
    expect((await t.client.provision('i', { ...full, ...org, parameters: { size: 3 } })).status).toBe(201)
    const fetched = async () => (await t.client.fetchInstance('i')).body
    expect((await t.client.update('i', { service_id, parameters: { name: 'n' } })).status).toBe(200)
    expect(await fetched()).toMatchObject({ plan_id: 'full-small', parameters: { size: 3, name: 'n' } })
    expect((await t.client.update('i', { service_id, plan_id: 'full-large' })).status).toBe(200)
    expect(await fetched()).toMatchObject({ plan_id: 'full-large', parameters: { size: 3, name: 'n' } })
    const context = { space_name: 'renamed' }
    expect((await t.client.update('i', { service_id, context })).status).toBe(200)
    const maintenance_info = { version: '2.0.0' }
    expect((await t.client.update('i', { service_id, maintenance_info })).status).toBe(200)
    expect(await fetched()).toMatchObject({ plan_id: 'full-large', parameters: { size: 3, name: 'n' } })
  })

  requirement('UPD-10', 'parameters are judged by what they lead to, and refused by name', async t => {
    await provisioned(t)
    for (const parameters of [{ size: 11 }, { size: 'big' }, { name: 1 }]) {
      const answer = await t.client.update('i', { service_id, parameters })
      expect(answer).toMatchObject({ status: 400, body: { error: 'InvalidParameters' } })
      expect(answer.body.description).toContain(Object.keys(parameters)[0])
    }
    expect((await t.client.fetchInstance('i')).body.parameters).toEqual({ size: 1 })
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement(
    'UPD-10',
    'parameters are judged by the schema of the plan that the update leads to',
    async t => {
      await provisioned(t, 'i', { service_id: 'bare', plan_id: 'low' })
      const update = async (more: object) => (await t.client.update('i', { service_id: 'bare', ...more })).status
      expect(await update({ parameters: { size: 20 } })).toBe(400)
      expect(await update({ plan_id: 'high', parameters: { size: 20 } })).toBe(200)
      expect(await update({ plan_id: 'low', parameters: { size: 21 } })).toBe(400)
      expect((await t.client.fetchInstance('i')).body).toMatchObject({ plan_id: 'high', parameters: { size: 20 } })
    },
    { services: [planned] },
  )

  requirement('UPD-11', 'parameters are merged by their top-level names', async t => {
    const parameters = { size: 3, name: 'old' }
    expect((await t.client.provision('i', { ...full, ...org, parameters })).status).toBe(201)
    expect((await t.client.update('i', { service_id, parameters: { name: 'new' } })).status).toBe(200)
    expect((await t.client.fetchInstance('i')).body.parameters).toEqual({ size: 3, name: 'new' })
    expect((await t.client.update('i', { service_id, parameters: {} })).status).toBe(200)
    expect((await t.client.fetchInstance('i')).body.parameters).toEqual({ size: 3, name: 'new' })
  })

  requirement('UPD-14', 'previous_values are never trusted', async t => {
    await provisioned(t, 'i', { service_id, plan_id: 'full-fixed' })
    const previous_values = { plan_id: 'full-small', service_id: 'plain', maintenance_info: { version: '9.9.9' } }
    const change = await t.client.update('i', { service_id, plan_id: 'full-large', previous_values })
    expect(change).toMatchObject({ status: 422, body: { error: 'PlanChangeNotSupported' } })
    expect((await t.client.update('i', { service_id, parameters: { size: 2 }, previous_values })).status).toBe(200)
    expect((await t.client.fetchInstance('i')).body).toMatchObject({ plan_id: 'full-fixed', parameters: { size: 2 } })
  })

  requirement('UPD-16', 'another version than that of the plan in question is a MaintenanceInfoConflict', async t => {
    await provisioned(t)
    const update = (version: string, more: object = {}) =>
      t.client.update('i', { service_id, maintenance_info: { version }, ...more })
    const conflict = { status: 422, body: { error: 'MaintenanceInfoConflict' } }
    expect(await update('2.0.0')).toMatchObject(conflict)
    expect(await update('1.2.3')).toMatchObject(conflict)
    expect(await update('1.2.3+build.1', { plan_id: 'full-large' })).toMatchObject(conflict)
    expect(await update('1.2.3+build.1', { plan_id: 'full-fixed' })).toMatchObject(conflict)
    expect((await t.client.fetchInstance('i')).body).toMatchObject(full)
    expect(t.backend.done).toEqual(['provision i'])
    expect((await update('1.2.3+build.1')).status).toBe(200)
    expect((await update('2.0.0', { plan_id: 'full-large' })).status).toBe(200)
    const nothing = { service_id, maintenance_info: {}, previous_values: { maintenance_info: {} } }
    expect((await t.request('PATCH', path, { body: nothing })).status).toBe(200)
  })

  requirement('UPD-17', 'an update that was applied is 200, and so is one with nothing to do', async t => {
    await provisioned(t)
    const applied = await t.client.update('i', { service_id, parameters: { size: 2 } })
    expect([applied.status, applied.body]).toEqual([200, { dashboard_url: 'https://dashboard.example/i' }])
    expect(t.backend.done).toEqual(['provision i', 'update i'])
    for (const options of [{}, incomplete])
      for (const nothing of [{ service_id }, { service_id, plan_id: 'full-small' }])
        expect((await t.client.update('i', nothing, options)).status).toBe(200)
    expect(t.backend.done).toEqual(['provision i', 'update i'])
  })

  requirement(['UPD-18', 'UPD-28'], 'a repeat while it runs is 202 with the first operation', async t => {
    await provisioned(t)
    const release = t.backend.hold('update')
    const change = { service_id, plan_id: 'full-large', parameters: { size: 2, name: 'n' } }
    const first = await t.client.update('i', change, incomplete)
    const again = await t.client.update('i', { ...change, parameters: { name: 'n', size: 2 } }, incomplete)
    expect([first.status, again.status]).toEqual([202, 202])
    expect(first.body.operation).toMatch(/^.{1,10000}$/)
    expect(again.body.operation).toBe(first.body.operation)
    release()
    expect(await t.ended('i', undefined, first.body.operation ?? '')).toMatchObject({ state: 'succeeded' })
    expect(t.backend.done).toEqual(['provision i', 'update i'])
  })

  requirement(
    'UPD-27',
    'a new dashboard that the service can name at once comes with the first answer',
    async t => {
      await provisioned(t, 'i', { service_id: 'bare', plan_id: 'old' })
      const { status, body } = await t.client.update('i', { service_id: 'bare', plan_id: 'new' }, incomplete)
      expect([status, body.dashboard_url]).toEqual([202, 'https://dashboard.example/new'])
      await t.ended('i')
      expect((await t.client.fetchInstance('i')).body.dashboard_url).toBe('https://dashboard.example/new')
      const sync = await t.client.update('i', { service_id: 'bare', plan_id: 'old' })
      expect([sync.status, sync.body.dashboard_url]).toEqual([200, 'https://dashboard.example/old'])
    },
    { services: [byPlanDashboard] },
  )

  requirement(
    'UPD-27',
    'the first answer leads to the dashboard that the update will make',
    async t => {
      await provisioned(t, 'i', { service_id: 'bare', plan_id: 'bare-plan' })
      const change = { service_id: 'bare', parameters: { a: 1 } }
      const { status, body } = await t.client.update('i', change, incomplete)
      expect(status).toBe(202)
      await t.ended('i')
      const response = await t.fetch(new Request(body.dashboard_url ?? '', { redirect: 'manual' }))
      expect([response.status, response.headers.get('location')]).toEqual([302, 'https://dashboard.example/new'])
      const sync = await t.client.update('i', change)
      expect([sync.status, sync.body.dashboard_url]).toEqual([200, 'https://dashboard.example/new'])
    },
    { services: [byAction] },
  )

  const labelled = bareService({ update: async () => ({ metadata: { labels: { tier: 'gold' } } }) })
  requirement(
    'UPD-29',
    'metadata of the service is returned',
    async t => {
      await provisioned(t, 'i', { service_id: 'bare', plan_id: 'bare-plan' })
      const { status, body } = await t.client.update('i', { service_id: 'bare', parameters: {} })
      expect([status, body]).toEqual([200, { metadata: { labels: { tier: 'gold' } } }])
    },
    { services: [labelled] },
  )

  requirement('UPD-31', 'the context is stored with every update, whatever else changes', async t => {
    await provisioned(t)
    const contextOf = async (id: string) => (await t.store.instance(id))?.context
    const context = { platform: 'cloudfoundry', instance_name: 'mine' }
    expect((await t.client.update('i', { service_id, parameters: { size: 2 }, context })).status).toBe(200)
    expect(await contextOf('i')).toEqual({ ...org, ...context })
    await t.client.update('i', { service_id, plan_id: 'full-large', context: { instance_name: 'yours' } }, incomplete)
    await t.ended('i')
    expect(await contextOf('i')).toEqual({ ...org, instance_name: 'yours' })
    const drain = { service_id: 'drain', plan_id: 'drain-plan' }
    await provisioned(t, 'j', drain)
    expect((await t.client.update('j', { service_id: 'drain', context })).status).toBe(200)
    expect(await contextOf('j')).toEqual({ ...org, ...context })
  })

  requirement('UPD-04', 'a service that does not invite them is not told of the context', async t => {
    const services = createServices(t.backend).map(service =>
      service.id === 'full' ? { ...service, allowContextUpdates: false } : service,
    )
    const platform = await another(t, { services })
    await provisioned(platform)
    expect((await platform.client.update('i', { service_id, context: { space_name: 'new' } })).status).toBe(200)
    expect(t.backend.done).toEqual(['provision i'])
  })
})
