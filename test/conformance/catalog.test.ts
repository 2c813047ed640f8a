import { expect } from 'vitest'
import type { Service } from '../../src/index.ts'
import type { Offering } from '../../src/protocol/offering.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import {
  another,
  bare,
  bareService,
  bindable,
  incomplete,
  offerings,
  provisioned,
  refused,
  restarted,
} from './helpers.ts'
import { createServices, full, org } from './services.ts'

const retrievable = { instancesRetrievable: true, bindingsRetrievable: true }

conformance('Catalog', () => {
  requirement(['CAT-01', 'CAT-08'], 'the catalog is a 200 with the list of services', async t => {
    const { status, body } = await t.client.catalog()
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['services'])
    expect(body.services?.map(service => service.id)).toEqual(createServices(t.backend).map(service => service.id))
    const empty = await (await another(t, { services: [] })).client.catalog()
    expect([empty.status, empty.body]).toEqual([200, { services: [] }])
  })

  requirement('CAT-02', 'the list may change between two requests', async t => {
    let shown = ['full', 'plain']
    const changing = await another(t, {
      services: createServices(t.backend),
      presentCatalog: (all: readonly Offering[]) => all.filter(offering => shown.includes(offering.id)),
    })
    const first = await changing.client.catalog()
    shown = ['plain']
    const second = await changing.client.catalog({ headers: { 'if-none-match': first.headers.etag } })
    expect(first.body.services?.map(service => service.id)).toEqual(['full', 'plain'])
    expect(second.body.services?.map(service => service.id)).toEqual(['plain'])
    expect(second.headers.etag).not.toBe(first.headers.etag)
  })

  requirement('CAT-04', 'ids are those of the author, in every answer, version and process', async t => {
    const ids = async (platform: Platform, apiVersion: string) =>
      (await platform.createClient({ apiVersion }).catalog()).body.services?.map(({ id, plans }) => [
        id,
        plans.map(plan => plan.id),
      ])
    const services = createServices(t.backend)
    const declared = services.map(service => [service.id, service.plans?.map(plan => plan.id)])
    const restarted = await another(t, { services })
    for (const platform of [t, t, restarted])
      for (const version of ['2.12', '2.17']) expect(await ids(platform, version)).toEqual(declared)
  })

  requirement('CAT-06', 'a text of more than 255 characters is served, and the operator is warned', async t => {
    const description = 'x'.repeat(256)
    const long = await another(t, {
      services: [bareService({ description, metadata: { longDescription: description } })],
    })
    const { catalogWarnings: warnings } = long
    expect(warnings.filter(warning => /256 characters.*255/.test(warning))).toHaveLength(2)
    expect((await offerings(long))[0]?.description).toBe(description)
    const fine = await another(t, { services: [bareService({ description: 'x'.repeat(255) })] })
    expect(fine.catalogWarnings).toEqual([])
  })

  requirement('CAT-07', 'the catalog has an ETag, and who has it already gets a 304', async t => {
    const { headers } = await t.client.catalog()
    expect(headers.etag).toMatch(/^"[^"]+"$/)
    for (const match of [headers.etag, `W/${headers.etag}`, `"other", ${headers.etag}`, '*']) {
      const again = await t.client.catalog({ headers: { 'if-none-match': match } })
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', headers.etag])
    }
    expect((await t.client.catalog({ headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    const older = await t.client.catalog({ headers: { 'if-none-match': headers.etag, 'x-broker-api-version': '2.13' } })
    expect(older.status).toBe(200)
  })

  requirement('CAT-09', 'what has a plan that left the catalog can be polled, used, changed and deleted', async t => {
    const large = { service_id: 'full', plan_id: 'full-large' }
    await provisioned(t, 'i', large)
    expect((await t.client.bind('i', 'b', large)).status).toBe(201)
    const release = t.backend.hold('provision')
    await t.client.provision('j', { ...large, ...org }, incomplete)
    const later = await restarted(t, { services: withoutPlan(t, 'full-large') })
    const { client } = later
    expect((await offerings(later))[0]?.plans.map(plan => plan.id)).not.toContain('full-large')
    expect((await client.provision('k', { ...large, ...org })).body.error).toBe('UnknownPlan')
    expect((await client.lastOperation('j', large)).body.state).toBe('in progress')
    release()
    expect(await later.ended('j')).toMatchObject({ state: 'succeeded' })
    expect((await client.fetchInstance('i')).body).toMatchObject(large)
    const bind = await client.bind('i', 'c', { ...large, parameters: {} })
    expect([bind.status, bind.body.credentials]).toMatchObject([201, { username: 'c' }])
    expect((await client.bind('i', 'd', { ...large, parameters: { readonly: 1 } })).status).toBe(400)
    expect((await client.fetchBinding('i', 'c')).body.parameters).toEqual({ readonly: false })
    expect((await client.unbind('i', 'b', large)).status).toBe(200)
    expect((await client.unbind('i', 'c', large)).status).toBe(200)
    expect((await client.deprovision('i', large)).status).toBe(200)
    expect((await client.update('j', { ...large, parameters: { size: 2 } })).status).toBe(200)
    expect((await client.update('j', { ...large, parameters: { size: 99 } })).status).toBe(400)
    expect((await client.update('j', { service_id: 'full', plan_id: 'full-small' })).status).toBe(200)
    expect((await client.fetchInstance('j')).body).toMatchObject({ ...full, parameters: { size: 2 } })
    expect((await client.deprovision('j', full)).status).toBe(200)
    expect(t.backend.things.size).toBe(0)
  })

  requirement('CAT-10', 'an offering without a name, or with one that is taken, is refused', async t => {
    await refused(t, [bareService({ name: undefined })], /"name" is missing/)
    await refused(t, [bareService({ name: '' })], /"name" is empty/)
    const twin = bareService({ id: 'twin', plans: [{ id: 'twin-plan', name: 'plan', description: 'x' }] })
    await refused(t, [bareService(), twin], /service name "bare" is already used/)
  })

  requirement(['CAT-11', 'CAT-12'], 'a name that is hard to type is served, and the operator is warned', async t => {
    for (const name of ['two words', 'ümlaut', 'under_score', 'sl/ash', 'tab\t'])
      expect(await warningsFor(t, { name })).toEqual([expect.stringContaining('hard to type on a command line')])
    for (const name of ['db', 'My-DB.v2', '2nd', 'a'.repeat(50)]) expect(await warningsFor(t, { name })).toEqual([])
  })

  requirement('CAT-13', 'names that differ in case are different names', async t => {
    const upper = bareService({
      id: 'upper',
      name: 'BARE',
      plans: [{ id: 'upper-plan', name: 'Plan', description: 'x' }],
    })
    const both = await another(t, { services: [bareService(), upper] })
    expect((await offerings(both)).map(offering => offering.name)).toEqual(['bare', 'BARE'])
  })

  requirement('CAT-14', 'a name of nothing but punctuation is served, and the operator is warned', async t => {
    for (const name of ['-', '.', '--.'])
      expect(await warningsFor(t, { name })).toEqual([expect.stringContaining(`the name "${name}"`)])
  })

  requirement('CAT-15', 'an offering without an id, or with one that is taken, is refused', async t => {
    await refused(t, [bareService({ id: undefined })], /"id" is missing/)
    await refused(t, [bareService({ id: '' })], /"id" is empty/)
    await refused(t, [bareService(), bareService({ name: 'other' })], /service id "bare" is already used/)
  })

  requirement('CAT-16', 'an offering without a description is refused', async t => {
    await refused(t, [bareService({ description: undefined })], /service "bare".*"description" is missing/)
    await refused(t, [bareService({ description: '' })], /"description" is empty/)
    for (const offering of await offerings(t)) expect(offering.description).toMatch(/\w/)
  })

  requirement('CAT-17', 'only the three known permissions can be required', async t => {
    await refused(t, [bareService({ requires: ['root'] })], /"requires\[0\]" must be syslog_drain or .*, but is "root"/)
    const required = (await offerings(t)).flatMap(offering => offering.requires ?? [])
    expect(required).toEqual(['syslog_drain', 'route_forwarding', 'volume_mount'])
  })

  requirement('CAT-18', 'every offering says whether it is bindable, and its plans follow it', async t => {
    await refused(t, [bareService({ bindable: undefined })], /"bindable" is missing/)
    await refused(t, [bareService({ bindable: 'yes' })], /"bindable" must be true or false/)
    for (const offering of await offerings(t)) expect(offering.bindable).toBeTypeOf('boolean')
    await provisioned(t, 'i', { service_id: 'plain', plan_id: 'plain-plan' })
    const answer = await t.client.bind('i', 'b', { service_id: 'plain', plan_id: 'plain-plan' })
    expect([answer.status, answer.body.error]).toEqual([400, 'NotBindable'])
    await provisioned(t, 'j', { service_id: 'drain', plan_id: 'drain-plan' })
    expect((await t.client.bind('j', 'b', { service_id: 'drain', plan_id: 'drain-plan' })).status).toBe(201)
  })

  requirement(['CAT-19', 'CAT-20'], 'where fetching is offered, it works for every plan of the offering', async t => {
    for (const offering of await offerings(t))
      for (const plan of offering.plans) {
        const ids = { service_id: offering.id, plan_id: plan.id }
        expect((await t.client.provision(plan.id, { ...ids, ...org }, incomplete)).status).toBeLessThan(300)
        await t.ended(plan.id)
        const fetched = await t.client.fetchInstance(plan.id)
        expect([plan.id, fetched.status]).toEqual([plan.id, offering.instances_retrievable === true ? 200 : 404])
        if (fetched.status === 200) expect(fetched.body).toMatchObject(ids)
        if (!(plan.bindable ?? offering.bindable)) continue
        const bindResource = { bind_resource: { app_guid: 'app' } }
        expect((await t.client.bind(plan.id, 'b', { ...ids, ...bindResource }, incomplete)).status).toBeLessThan(300)
        await t.ended(plan.id, 'b')
        const binding = await t.client.fetchBinding(plan.id, 'b')
        expect([plan.id, binding.status]).toEqual([plan.id, offering.bindings_retrievable === true ? 200 : 404])
        if (binding.status === 200) expect(binding.body.credentials).toMatchObject({ username: 'b' })
      }
    const shown = (await offerings(t)).map(offering => offering.instances_retrievable)
    expect(new Set(shown)).toEqual(new Set([true, false]))
  })

  requirement('CAT-21', 'only who says so is asked to act on a change of nothing but the context', async t => {
    const seen: unknown[] = []
    const telling = (id: string, allowContextUpdates?: boolean): Service =>
      bareService({
        id,
        name: id,
        allowContextUpdates,
        plans: [{ id: `${id}-plan`, name: 'plan', description: 'x' }],
        update: async (ctx: { instance: { context: object } }) => void seen.push([id, ctx.instance.context]),
      })
    const broker = await another(t, { services: [telling('yes', true), telling('no', false), telling('silent')] })
    const told = (await offerings(broker)).map(offering => offering.allow_context_updates)
    expect(told).toEqual([true, false, undefined])
    const context = { platform: 'cloudfoundry', instance_name: 'renamed' }
    for (const id of ['yes', 'no', 'silent']) {
      await provisioned(broker, id, { service_id: id, plan_id: `${id}-plan` })
      expect((await broker.client.update(id, { service_id: id, context })).status).toBe(200)
      expect((await broker.store.instance(id))?.context).toMatchObject(context)
    }
    expect(seen).toEqual([['yes', expect.objectContaining(context)]])
  })

  requirement('CAT-23', 'plan_updateable is spelled as the API spells it, at both levels', async t => {
    const [offering] = await offerings(t)
    expect(offering?.plan_updateable).toBe(true)
    expect(offering?.plans.find(plan => plan.id === 'full-fixed')?.plan_updateable).toBe(false)
    expect((await t.client.catalog()).text).not.toMatch(/plan_updatable|planUpdat/)
  })

  requirement('CAT-24', 'an offering without plans is refused', async t => {
    await refused(t, [bareService({ plans: [] })], /service "bare": it has no plans/)
    await refused(t, [bareService({ plans: undefined })], /service "bare": "plans" is missing/)
    for (const offering of await offerings(t)) expect(offering.plans.length).toBeGreaterThan(0)
  })

  requirement('CAT-25', 'what can be bound is shown as bindable, and only that', async t => {
    await refused(t, [bareService({ bindable: true })], /it is bindable but has no bind and unbind/)
    await refused(t, [bareService({ ...bindable, unbind: undefined })], /there is bind without unbind/)
    await refused(t, [bareService({ planUpdateable: true })], /can be changed \(planUpdateable\) but it has no update/)
    const silent = await another(t, { services: [bareService({ ...bindable, bindable: false, ...retrievable })] })
    expect((await offerings(silent))[0]?.bindable).toBe(false)
    await provisioned(silent, 'i', bare)
    expect((await silent.client.bind('i', 'b', bare)).body.error).toBe('NotBindable')
    const speaking = await another(t, { services: [bareService({ ...bindable, ...retrievable })] })
    expect((await offerings(speaking))[0]?.bindable).toBe(true)
    await provisioned(speaking, 'i', bare)
    expect((await speaking.client.bind('i', 'b', bare)).status).toBe(201)
  })
})

async function warningsFor(t: Platform, special: object): Promise<readonly string[]> {
  return (await another(t, { services: [bareService(special)] })).catalogWarnings
}

function withoutPlan(t: Platform, planId: string): Service[] {
  return createServices(t.backend).map(service =>
    service.plans === undefined ? service : { ...service, plans: service.plans.filter(plan => plan.id !== planId) },
  )
}
