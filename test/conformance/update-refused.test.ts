import { expect } from 'vitest'
import { defineService, type Hook, TerminalError } from '../../src/index.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import { answered, bareService, bound, incomplete, provisioned } from './helpers.ts'
import { full, org } from './services.ts'

const service_id = 'full'
const path = '/v2/service_instances/i'
const change = { service_id, parameters: { size: 2 } }

/** Refuses before the action has begun, as an author does who looks at a quota first. */
const quota: Hook = {
  name: 'quota',
  actions: ['update'],
  before() {
    throw new TerminalError('The quota of this organization is used up.', { status: 422, updateRepeatable: false })
  },
}

/** Everything that an update can change depends on the plan; the update itself fails after it has done something. */
const fragile = defineService({
  ...bareService({ planUpdateable: true, allowContextUpdates: true }),
  plans: [
    { id: 'old', name: 'old', description: 'Old', maintenanceInfo: { version: '1.0.0' } },
    { id: 'new', name: 'new', description: 'New', maintenanceInfo: { version: '2.0.0' } },
  ],
  dashboard: instance => `https://dashboard.example/${instance.planId}`,
  async provision() {
    return { metadata: { labels: { of: 'provision' } } }
  },
  async update(ctx) {
    await ctx.step('half', () => 'done')
    throw new TerminalError('The other half failed.')
  },
})

/** What a platform can see of the instance, and what the next action would be given. */
async function seen(t: Platform) {
  const { status, body } = await t.client.fetchInstance('i')
  const { context, planId, parameters, dashboardUrl, maintenanceVersion } = (await t.store.instance('i')) ?? {}
  return { status, body, context, planId, parameters, dashboardUrl, maintenanceVersion }
}

conformance('Refusing and failing updates', () => {
  requirement(
    ['UPD-05', 'UPD-20'],
    'what the service refuses in the present state is 422 with its reason, and changes nothing',
    async t => {
      await provisioned(t)
      const before = await seen(t)
      const refused = await t.client.update('i', { service_id, plan_id: 'full-large' })
      expect([refused.status, refused.body]).toEqual([
        422,
        {
          error: 'ActionRefused',
          description: 'The quota of this organization is used up.',
          update_repeatable: false,
        },
      ])
      expect(await seen(t)).toEqual(before)
      expect(t.backend.done).toEqual(['provision i'])
    },
    { hooks: [quota] },
  )

  requirement(['UPD-05', 'UPD-26'], 'a plan that cannot be left is refused for good, with the reason', async t => {
    await provisioned(t, 'i', { service_id, plan_id: 'full-fixed' })
    const { status, body } = await t.client.update('i', { service_id, plan_id: 'full-small' })
    expect([status, body.error, body.update_repeatable]).toEqual([422, 'PlanChangeNotSupported', false])
    expect(body.description).toMatch(/plan/)
    expect(Object.keys(body)).not.toContain('instance_usable')
  })

  requirement('UPD-19', 'what is malformed or lacks mandatory data is 400 and changes nothing', async t => {
    await provisioned(t)
    const bodies: [unknown, string][] = [
      ['{', 'JSON'],
      ['[]', 'object'],
      ['', 'empty'],
      [{ parameters: { size: 2 } }, 'service_id'],
      [{ ...change, service_id: '' }, 'service_id'],
      [{ ...change, service_id: 5 }, 'service_id'],
      [{ ...change, plan_id: [] }, 'plan_id'],
      [{ ...change, parameters: 'x' }, 'parameters'],
      [{ ...change, context: 'x' }, 'context'],
      [{ ...change, previous_values: 'x' }, 'previous_values'],
      [{ ...change, maintenance_info: 'x' }, 'maintenance_info'],
    ]
    for (const [body, word] of bodies) {
      const answer = await t.request('PATCH', path, { body })
      expect(answer).toMatchObject({ status: 400, body: { error: 'MalformedRequest' } })
      expect(answer.body.description).toContain(word)
    }
    for (const plan_id of ['nobody', 'plain-plan'])
      expect(await t.client.update('i', { ...change, plan_id })).toMatchObject({
        status: 400,
        body: { error: 'UnknownPlan' },
      })
    expect((await t.client.fetchInstance('i')).body.parameters).toEqual({ size: 1 })
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement('UPD-20', 'a service that cannot update says so, and an instance that was never created too', async t => {
    const drain = { service_id: 'drain', plan_id: 'drain-plan' }
    await provisioned(t, 'i', drain)
    expect(await t.client.update('i', { service_id: 'drain', parameters: { a: 1 } })).toMatchObject({
      status: 422,
      body: { error: 'UpdateNotSupported', description: expect.stringMatching(/./) },
    })
    expect((await t.client.fetchInstance('i')).body.parameters).toEqual({})
    t.backend.failNext('provision', new TerminalError('No.'))
    expect((await t.client.provision('j', { ...full, ...org })).status).toBe(500)
    expect(await t.client.update('j', change)).toMatchObject({ status: 422, body: { error: 'InstanceNotUsable' } })
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement('UPD-21', 'a service that is always asynchronous needs accepts_incomplete=true', async t => {
    const ids = { service_id: 'always-async', plan_id: 'always-async-plan' }
    await t.client.provision('i', { ...ids, ...org }, incomplete)
    await t.ended('i')
    const required = { status: 422, body: { error: 'AsyncRequired' } }
    for (const parameters of [{ a: 1 }, undefined]) {
      const request = { service_id: 'always-async', parameters }
      expect(await t.client.update('i', request)).toMatchObject(required)
      const query = { accepts_incomplete: 'false' }
      expect(await t.client.update('i', request, { query })).toMatchObject(required)
    }
    expect((await t.client.fetchInstance('i')).body.parameters).toEqual({})
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement(
    ['UPD-22', 'UPD-30'],
    'a failed update leaves every part of the instance as it was',
    async t => {
      const ids = { service_id: 'bare', plan_id: 'old' }
      expect((await t.client.provision('i', { ...ids, ...org, parameters: { a: 1 } })).status).toBe(201)
      const before = await seen(t)
      expect(before).toMatchObject({ status: 200, dashboardUrl: 'https://dashboard.example/old' })
      const all = { service_id: 'bare', plan_id: 'new', parameters: { b: 2 }, context: { space_name: 'new' } }
      const sync = await t.client.update('i', all)
      expect(sync).toMatchObject({ status: 500, body: { error: 'ActionFailed' } })
      expect(await seen(t)).toEqual(before)
      expect((await t.client.update('i', all, incomplete)).status).toBe(202)
      expect(await t.ended('i')).toMatchObject({ state: 'failed' })
      expect(await seen(t)).toEqual(before)
      const wrong = { ...all, maintenance_info: { version: '1.0.0' } }
      expect((await t.client.update('i', wrong)).status).toBe(422)
      expect(await seen(t)).toEqual(before)
    },
    { services: [fragile] },
  )

  requirement('UPD-22', 'an update that is refused for one part applies no other', async t => {
    await provisioned(t)
    const before = await seen(t)
    const context = { space_name: 'new' }
    for (const [wrong, status] of [
      [{ plan_id: 'full-large', parameters: { size: 11 }, context }, 400],
      [{ parameters: { size: 2 }, maintenance_info: { version: '9.9.9' }, context }, 422],
      [{ plan_id: 'nobody', parameters: { size: 2 }, context }, 400],
    ] as const) {
      expect((await t.client.update('i', { service_id, ...wrong })).status).toBe(status)
      expect(await seen(t)).toEqual(before)
    }
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement('UPD-22', 'an update that a request has waited for in vain is not applied later', async t => {
    await provisioned(t)
    const before = await seen(t)
    const release = t.backend.hold('update')
    const answer = await answered(t, t.client.update('i', { ...change, plan_id: 'full-large' }))
    expect(answer.status).toBeGreaterThanOrEqual(500)
    release()
    await t.clock.advance(600_000)
    expect(await seen(t)).toEqual(before)
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement('UPD-26', 'flags tell what the service said, and another update may repair the instance', async t => {
    await provisioned(t)
    t.backend.failNext('update', new TerminalError('Not now.'))
    const passing = await t.client.update('i', change)
    expect([passing.status, passing.body]).toEqual([500, { error: 'ActionFailed', description: 'Not now.' }])
    await bound(t)
    t.backend.failNext('update', new TerminalError('It broke.', { instanceUsable: false }))
    const broke = await t.client.update('i', change)
    expect(broke.body).toEqual({ error: 'ActionFailed', description: 'It broke.', instance_usable: false })
    expect(await t.client.bind('i', 'c', full)).toMatchObject({ status: 422, body: { error: 'InstanceNotUsable' } })
    expect(await t.client.fetchInstance('i')).toMatchObject({ status: 200, body: { ...full, parameters: { size: 1 } } })
    expect((await t.client.update('i', change)).status).toBe(200)
    await bound(t, 'i', 'c')
  })

  requirement('UPD-30', 'plan and parameters change with the success of the operation, not before', async t => {
    await provisioned(t)
    const release = t.backend.hold('update')
    const wanted = { service_id, plan_id: 'full-large', parameters: { size: 2 } }
    await t.client.update('i', wanted, incomplete)
    expect(await t.store.instance('i')).toMatchObject({ planId: 'full-small', parameters: { size: 1 } })
    release()
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    expect((await t.client.fetchInstance('i')).body).toMatchObject({ plan_id: 'full-large', parameters: { size: 2 } })
    expect((await t.client.bind('i', 'b', full)).status).toBe(400)
    await bound(t, 'i', 'b', { service_id, plan_id: 'full-large' })
  })

  requirement('UPD-32', 'another service than that of the instance is 400', async t => {
    await provisioned(t)
    for (const [other, error] of [
      ['always-sync', 'MalformedRequest'],
      ['nobody', 'UnknownService'],
    ] as const)
      expect(await t.client.update('i', { ...change, service_id: other })).toMatchObject({
        status: 400,
        body: { error },
      })
    expect((await t.client.fetchInstance('i')).body).toMatchObject({ ...full, parameters: { size: 1 } })
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement('UPD-33', 'an update of an unknown or deleted instance is 404', async t => {
    const missing = { status: 404, body: { error: 'InstanceNotFound' } }
    expect(await t.client.update('i', change)).toMatchObject(missing)
    await provisioned(t)
    expect((await t.client.deprovision('i', full)).status).toBe(200)
    expect(await t.client.update('i', change, incomplete)).toMatchObject(missing)
    expect(t.backend.done).toEqual(['provision i', 'deprovision i'])
  })
})
