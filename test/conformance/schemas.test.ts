import { expect } from 'vitest'
import type { JsonObject } from '../../src/protocol/json.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import { another, bareService, bindable, offerings, provisioned, refused } from './helpers.ts'
import { full, org } from './services.ts'

const draft4 = 'http://json-schema.org/draft-04/schema#'
const object = { type: 'object', properties: { size: { type: 'integer' } } }

/** A service whose plan has this schema for its creation. */
const withSchema = (parameters: object) => [
  bareService({
    plans: [
      { id: 'bare-plan', name: 'plan', description: 'x', schemas: { serviceInstance: { create: { parameters } } } },
    ],
  }),
]

/** Every schema of the catalog with its place. */
async function schemas(t: Platform): Promise<[string, JsonObject][]> {
  const found: [string, JsonObject][] = []
  for (const offering of await offerings(t))
    for (const plan of offering.plans)
      for (const [resource, methods] of Object.entries(plan.schemas ?? {}))
        for (const [method, { parameters }] of Object.entries(methods as Record<string, { parameters: JsonObject }>))
          found.push([`${plan.id} ${resource}.${method}`, parameters])
  return found
}

conformance('Schemas and maintenance', () => {
  requirement('SCH-03', 'every schema of the catalog has its $schema, whether its author gave one or not', async t => {
    const found = await schemas(t)
    expect(found.map(([place]) => place)).toContain('full-small service_binding.create')
    for (const [place, schema] of found) expect([place, schema.$schema]).toEqual([place, draft4])
    const own = await another(t, { services: withSchema(object) })
    expect(await schemas(own)).toEqual([['bare-plan service_instance.create', { $schema: draft4, ...object }]])
    const newer = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }
    const kept = await another(t, { services: withSchema(newer) })
    expect((await schemas(kept))[0]?.[1]).toEqual(newer)
  })

  requirement('SCH-04', 'a schema that points outside itself is refused', async t => {
    for (const $ref of [
      'https://schemas.example/x.json',
      'other.json#/definitions/a',
      'http://json-schema.org/draft-04/schema',
    ])
      await refused(
        t,
        withSchema({ type: 'object', properties: { a: { $ref } } }),
        /refers to ".*a \$ref must begin with #/,
      )
    const inside = {
      ...object,
      definitions: { a: { type: 'string' } },
      additionalProperties: { $ref: '#/definitions/a' },
    }
    expect((await schemas(await another(t, { services: withSchema(inside) })))[0]?.[1]).toMatchObject(inside)
  })

  requirement('SCH-05', 'a schema of more than 64 kB is refused', async t => {
    const sized = (bytes: number) => {
      const schema = { $schema: draft4, type: 'object', description: '' }
      return { ...schema, description: 'x'.repeat(bytes - JSON.stringify(schema).length) }
    }
    await refused(t, withSchema(sized(65_537)), /has 65537 bytes; the OSB API allows 65536/)
    await refused(t, withSchema({ ...object, description: 'é'.repeat(33_000) }), /bytes; the OSB API allows 65536/)
    const largest = await another(t, { services: withSchema(sized(65_536)) })
    expect(JSON.stringify((await schemas(largest))[0]?.[1])).toHaveLength(65_536)
  })

  requirement('SCH-06', 'levels without a schema are left out, and a schema describes an object', async t => {
    const shown = Object.fromEntries(
      (await offerings(t)).flatMap(({ plans }) => plans.map(({ id, schemas }) => [id, schemas])),
    )
    expect(shown['plain-plan']).toBeUndefined()
    expect(shown['full-small']).toMatchObject({
      service_instance: {
        create: { parameters: { type: 'object', properties: { size: { type: 'integer' } } } },
        update: { parameters: { type: 'object' } },
      },
      service_binding: { create: { parameters: { type: 'object', properties: { readonly: { type: 'boolean' } } } } },
    })
    const partial = await another(t, { services: withSchema(object) })
    expect((await offerings(partial))[0]?.plans[0]?.schemas).toEqual({
      service_instance: { create: { parameters: { $schema: draft4, ...object } } },
    })
    const list = await another(t, { services: withSchema({ type: 'array' }) })
    expect(list.catalogWarnings).toEqual([expect.stringContaining('accepts no object')])
  })

  requirement('SCH-07', 'a plan that cannot be bound shows no schema for bindings', async t => {
    const shown = new Map((await offerings(t))[0]?.plans.map(({ id, schemas }) => [id, Object.keys(schemas ?? {})]))
    expect(shown.get('full-small')).toEqual(['service_instance', 'service_binding'])
    expect(shown.get('full-unbindable')).toEqual(['service_instance'])
    const serviceBinding = { create: { parameters: object } }
    const own = await another(t, {
      services: [
        bareService({
          ...bindable,
          plans: [
            { id: 'yes', name: 'yes', description: 'x', schemas: { serviceBinding } },
            { id: 'no', name: 'no', description: 'x', bindable: false, schemas: { serviceBinding } },
          ],
        }),
      ],
    })
    expect((await schemas(own)).map(([place]) => place)).toEqual(['yes service_binding.create'])
  })

  requirement(['SCH-08', 'SCH-09'], 'parameters that break the schema are a 400 that says which and why', async t => {
    await provisioned(t)
    const before = [...t.backend.done]
    const canary = 'canary-value'
    const answers = [
      await t.client.provision('x', { ...full, ...org, parameters: { size: 11, nam: canary } }),
      await t.client.update('i', { service_id: 'full', parameters: { size: canary } }),
      await t.client.bind('i', 'x', { ...full, parameters: { readonly: canary, more: 1 } }),
    ]
    const places = [['size', 'nam'], ['size'], ['readonly', 'more']]
    for (const [index, { status, body, text }] of answers.entries()) {
      expect([status, body.error]).toEqual([400, 'InvalidParameters'])
      for (const field of places[index] ?? []) expect(body.description).toContain(`parameters.${field}`)
      expect(text).not.toContain(canary)
    }
    expect(t.backend.done).toEqual(before)
    expect((await t.client.fetchInstance('x')).status).toBe(404)
    expect((await t.client.fetchInstance('i')).body.parameters).toEqual({ size: 1 })
    expect((await t.client.fetchBinding('i', 'x')).status).toBe(404)
  })

  requirement('SCH-08', 'parameters that fit are taken, and a plan is judged by its own schema', async t => {
    expect((await t.client.provision('i', { ...full, ...org, parameters: { size: 10, name: 'n' } })).status).toBe(201)
    expect((await t.client.update('i', { service_id: 'full', parameters: { size: 1 } })).status).toBe(200)
    expect((await t.client.bind('i', 'b', { ...full, parameters: { readonly: true } })).status).toBe(201)
    expect((await t.client.fetchInstance('i')).body.parameters).toEqual({ size: 1, name: 'n' })
    expect((await t.client.fetchBinding('i', 'b')).body.parameters).toEqual({ readonly: true })
    const own = await another(t, { services: withSchema({ ...object, required: ['size'] }) })
    const ids = { service_id: 'bare', plan_id: 'bare-plan', ...org }
    expect((await own.client.provision('i', ids)).body.description).toContain('parameters.size: is required')
    expect((await own.client.provision('i', { ...ids, parameters: { size: 1 } })).status).toBe(201)
  })

  requirement('MI-01', 'a version that is not a semantic version is refused', async t => {
    const withVersion = (version: unknown) => [
      bareService({ plans: [{ id: 'bare-plan', name: 'p', description: 'x', maintenanceInfo: { version } }] }),
    ]
    for (const wrong of ['1', '1.2', '1.2.3.4', 'v1.2.3', '01.2.3', '1.2.3-', '1.2.3+', '1.2.x', '', 1.2, null])
      await refused(t, withVersion(wrong), /"maintenanceInfo.version" must be a semantic version/)
    for (const version of ['0.0.0', '1.2.3', '1.2.3-rc.1', '1.2.3+build.7', '10.20.30-a.0.x-y+sha-5']) {
      const broker = await another(t, { services: withVersion(version) })
      expect((await offerings(broker))[0]?.plans[0]?.maintenance_info).toEqual({ version })
    }
  })

  requirement('MI-02', 'the description of what maintenance means is carried', async t => {
    const plans = (await offerings(t))[0]?.plans
    expect(plans?.[0]?.maintenance_info).toEqual({ version: '1.2.3+build.1', description: 'No downtime' })
  })

  requirement('MI-04', 'in requests only the version counts', async t => {
    const info = { version: '1.2.3+build.1', description: 'something else', 'x-acme': 1 }
    expect((await t.client.provision('i', { ...full, ...org, maintenance_info: info })).status).toBe(201)
    expect((await t.client.provision('i', { ...full, ...org })).status).toBe(200)
    const update = { service_id: 'full', maintenance_info: info }
    expect((await t.client.update('i', update)).status).toBe(200)
    const empty = await t.request('PUT', '/v2/service_instances/j', {
      body: { ...full, ...org, maintenance_info: { description: 'no version' } },
    })
    expect(empty.status).toBe(201)
  })

  requirement('MI-05', 'a version that differs by a letter is a conflict, the build included', async t => {
    await provisioned(t)
    const before = [...t.backend.done]
    for (const version of ['1.2.3', '1.2.3+build.2', '1.2.3+BUILD.1', '1.2.4', ' 1.2.3+build.1', 'Invalid']) {
      const provision = await t.client.provision('x', { ...full, ...org, maintenance_info: { version } })
      const update = await t.client.update('i', { service_id: 'full', maintenance_info: { version } })
      for (const { status, body } of [provision, update])
        expect([version, status, body.error]).toEqual([version, 422, 'MaintenanceInfoConflict'])
    }
    expect(t.backend.done).toEqual(before)
  })
})
