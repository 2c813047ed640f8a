import { describe, expect, it } from 'vitest'
import { toOffering } from '../../src/bundle/to-offering.ts'
import { checkCatalog } from '../../src/catalog/check-catalog.ts'
import { toWireCatalog } from '../../src/catalog/wire-catalog.ts'
import { sensitiveNames } from '../../src/driver/bundle/secrets.ts'
import type { Offering, Plan } from '../../src/protocol/offering.ts'
import { parse, parseParameters, specWith } from './specs.ts'

const offer = (more: object = {}, plan: object = {}): Offering =>
  toOffering(parse(specWith(more, plan)), { registry: 'dh' })

function planOf(offering: Offering, index = 0): Plan {
  const plan = offering.plans[index]
  if (plan === undefined) throw new Error('no plan')
  return plan
}

const parameter = (name: string, more: object = {}) => ({ name, type: 'string', ...more })

describe('toOffering', () => {
  it('gives a bundle the place in the catalog that the Automation Broker gave it', async () => {
    const plans = [
      { name: 'dev', description: 'Dev', free: true, updates_to: ['prod'] },
      { name: 'prod', description: 'Prod', free: false, bindable: false, metadata: { cost: '$1' } },
    ]
    const offering = offer({
      name: 'postgresql-apb',
      bindable: true,
      tags: ['database'],
      metadata: { displayName: 'PostgreSQL' },
      bundle_version: '2.0.1',
      timeouts: { provision: '90s', bind: '1500ms' },
      plans,
    })
    const empty = { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object', additionalProperties: false }
    const instance = { create: { parameters: empty }, update: { parameters: empty } }
    expect(offering).toEqual({
      id: '1dda1477cace09730bd8ed7a6505607e',
      name: 'dh-postgresql-apb',
      description: 'A demo',
      bindable: true,
      tags: ['database'],
      metadata: { displayName: 'PostgreSQL' },
      instancesRetrievable: true,
      bindingsRetrievable: true,
      planUpdateable: true,
      plans: [
        {
          id: '7f4a5e35e4af2beb70076e72fab0b7ff',
          name: 'dev',
          description: 'Dev',
          free: true,
          metadata: {},
          planUpdateable: true,
          schemas: { serviceInstance: instance, serviceBinding: { create: { parameters: empty } } },
          maximumPollingDuration: 990,
          maintenanceInfo: { version: '2.0.1' },
        },
        {
          id: expect.stringMatching(/^[0-9a-f]{32}$/),
          name: 'prod',
          description: 'Prod',
          free: false,
          bindable: false,
          metadata: { cost: '$1' },
          planUpdateable: false,
          schemas: { serviceInstance: instance },
          maximumPollingDuration: 990,
          maintenanceInfo: { version: '2.0.1' },
        },
      ],
    })
    expect(await checkCatalog([offering])).toEqual({ problems: [], warnings: [] })
  })

  it('always says on the wire whether a plan is free, and whether it can be bound where the plan says so', () => {
    const plans = [
      { name: 'a', description: 'A' },
      { name: 'b', description: 'B', free: false, bindable: false },
      { name: 'c', description: 'C', free: true, bindable: true },
    ]
    expect(toWireCatalog([offer({ plans })], 17)).toMatchObject({
      services: [
        {
          bindable: false,
          instances_retrievable: true,
          bindings_retrievable: true,
          plan_updateable: false,
          plans: [{ free: true }, { free: false, bindable: false }, { free: true, bindable: true }],
        },
      ],
    })
  })

  it('does not promise bindings, updates, a polling time or a version that nobody gave', () => {
    const offering = offer()
    expect(offering).not.toHaveProperty('bindingsRetrievable')
    expect(offering.planUpdateable).toBe(false)
    expect(planOf(offering)).not.toHaveProperty('maximumPollingDuration')
    expect(planOf(offering)).not.toHaveProperty('maintenanceInfo')
    expect(planOf(offering)).not.toHaveProperty('bindable')
    expect(planOf(offer({}, { updates_to: ['default'] })).planUpdateable).toBe(false)
  })

  it('puts forms beside the metadata, in order, with neighbours of one group in a field set', () => {
    const metadata = { displayName: 'Plan', schemas: { own: 1, service_instance: { note: 'kept' } } }
    const offering = offer(
      { bindable: true },
      {
        metadata,
        parameters: [
          parameter('db'),
          parameter('user', { display_group: 'User', updatable: true }),
          parameter('password', { display_group: 'User', display_type: 'password' }),
          parameter('key', { sensitive: true, updatable: true }),
          parameter('late', { display_group: 'User' }),
          { name: 'number', type: 'int', sensitive: true, display_group: 'Other' },
        ],
        bind_parameters: [parameter('role', { display_type: 'select' })],
      },
    )
    expect(planOf(offering).metadata).toEqual({
      displayName: 'Plan',
      schemas: {
        own: 1,
        service_instance: {
          note: 'kept',
          create: {
            openshift_form_definition: [
              'db',
              { title: 'User', type: 'fieldset', items: ['user', { key: 'password', type: 'password' }] },
              { key: 'key', type: 'password' },
              { title: 'User', type: 'fieldset', items: ['late'] },
              { title: 'Other', type: 'fieldset', items: ['number'] },
            ],
          },
          update: {
            openshift_form_definition: [
              { title: 'User', type: 'fieldset', items: ['user'] },
              { key: 'key', type: 'password' },
            ],
          },
        },
        service_binding: { create: { openshift_form_definition: [{ key: 'role', type: 'select' }] } },
      },
    })
  })

  it('shares nothing with the spec that could be changed under it', () => {
    const spec = parse(specWith({ metadata: { a: { b: 1 } } }, { metadata: { c: [1] } }))
    const offering = toOffering(spec, { registry: 'r' })
    expect(offering.metadata).toEqual(spec.metadata)
    expect(offering.metadata?.a).not.toBe(spec.metadata.a)
    expect(planOf(offering).metadata?.c).not.toBe(spec.plans[0]?.metadata.c)
  })
})

describe('sensitiveNames', () => {
  it('knows the secrets of a list', () => {
    const list = [parameter('a'), parameter('b', { sensitive: true }), parameter('c', { display_type: 'password' })]
    expect(sensitiveNames(parseParameters(list))).toEqual(['b', 'c'])
  })

  it('knows the parameters of a schema that hold a secret, however deep', () => {
    const deep = { type: 'array', items: { properties: { key: { type: 'string', sensitive: true } } } }
    const properties = { a: {}, b: deep, c: { writeOnly: true }, d: { format: 'password' }, e: { sensitive: false } }
    expect(sensitiveNames(parseParameters({ type: 'object', properties }))).toEqual(['b', 'c', 'd'])
    expect(sensitiveNames(parseParameters({ type: 'object' }))).toEqual([])
  })
})
