import { describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import type { Offering } from '../protocol/offering.ts'
import { toWireCatalog } from './wire-catalog.ts'

const parameters = { type: 'object', properties: { size: { type: 'integer' } } } as const

const offering: Offering = {
  id: 's',
  name: 'service',
  description: 'A service',
  bindable: true,
  tags: ['t'],
  requires: ['syslog_drain', 'route_forwarding', 'volume_mount'],
  instancesRetrievable: true,
  bindingsRetrievable: true,
  allowContextUpdates: false,
  metadata: { displayName: 'Service', someKey: { innerKey: 1 } },
  dashboardClient: { id: 'c', secret: 'x', redirectUri: 'https://example.com' },
  planUpdateable: true,
  plans: [
    {
      id: 'p',
      name: 'plan',
      description: 'A plan',
      metadata: { bullets: ['b'] },
      free: false,
      bindable: true,
      bindingRotatable: true,
      planUpdateable: false,
      schemas: {
        serviceInstance: { create: { parameters }, update: { parameters } },
        serviceBinding: { create: { parameters } },
      },
      maximumPollingDuration: 60,
      maintenanceInfo: { version: '1.0.0', description: 'new' },
    },
  ],
}

function only(catalog: JsonObject): { service: JsonObject; plan: JsonObject } {
  const service: unknown = Array.isArray(catalog.services) ? catalog.services[0] : undefined
  if (!isJsonObject(service) || !Array.isArray(service.plans) || !isJsonObject(service.plans[0]))
    throw new Error('no plan')
  return { service, plan: service.plans[0] }
}

const keys = (minor: number) => {
  const { service, plan } = only(toWireCatalog([offering], minor))
  return { service: Object.keys(service), plan: Object.keys(plan), requires: service.requires }
}

describe('toWireCatalog', () => {
  it('writes every field in the spelling of the wire', () => {
    const described = { $schema: 'http://json-schema.org/draft-04/schema#', ...parameters }
    expect(toWireCatalog([offering], 17)).toStrictEqual({
      services: [
        {
          id: 's',
          name: 'service',
          description: 'A service',
          tags: ['t'],
          requires: ['syslog_drain', 'route_forwarding', 'volume_mount'],
          bindable: true,
          instances_retrievable: true,
          bindings_retrievable: true,
          allow_context_updates: false,
          metadata: { displayName: 'Service', someKey: { innerKey: 1 } },
          dashboard_client: { id: 'c', secret: 'x', redirect_uri: 'https://example.com' },
          plan_updateable: true,
          plans: [
            {
              id: 'p',
              name: 'plan',
              description: 'A plan',
              metadata: { bullets: ['b'] },
              free: false,
              bindable: true,
              binding_rotatable: true,
              plan_updateable: false,
              schemas: {
                service_instance: { create: { parameters: described }, update: { parameters: described } },
                service_binding: { create: { parameters: described } },
              },
              maximum_polling_duration: 60,
              maintenance_info: { version: '1.0.0', description: 'new' },
            },
          ],
        },
      ],
    })
  })

  it('leaves out what is not given', () => {
    const bare: Offering = {
      id: 's',
      name: 'n',
      description: 'd',
      bindable: false,
      plans: [{ id: 'p', name: 'n', description: 'd', schemas: { serviceInstance: { create: {} } } }],
    }
    expect(toWireCatalog([bare], 17)).toStrictEqual({
      services: [
        { id: 's', name: 'n', description: 'd', bindable: false, plans: [{ id: 'p', name: 'n', description: 'd' }] },
      ],
    })
  })

  it('answers an empty catalog with a list (CAT-08)', () => {
    expect(toWireCatalog([], 13)).toEqual({ services: [] })
  })

  it.each([
    [16, ['binding_rotatable']],
    [14, ['maintenance_info', 'maximum_polling_duration', 'plan_updateable']],
    [12, ['schemas']],
    [10, ['bindable']],
    [1, ['free']],
  ])('2.%i does not know %j of a plan', (minor, unknown) => {
    for (const field of unknown) expect(keys(minor).plan).not.toContain(field)
    expect(keys(minor + 1).plan).toEqual(expect.arrayContaining(unknown))
  })

  it.each([
    [14, ['allow_context_updates']],
    [13, ['instances_retrievable', 'bindings_retrievable']],
    [3, ['plan_updateable']],
    [2, ['dashboard_client']],
  ])('2.%i does not know %j of a service', (minor, unknown) => {
    for (const field of unknown) expect(keys(minor).service).not.toContain(field)
    expect(keys(minor + 1).service).toEqual(expect.arrayContaining(unknown))
  })

  it('requires only what a version can grant', () => {
    expect(keys(10).requires).toEqual(['syslog_drain', 'route_forwarding', 'volume_mount'])
    expect(keys(9).requires).toEqual(['syslog_drain', 'route_forwarding'])
    expect(keys(7).requires).toEqual(['syslog_drain'])
  })

  it('SCH-07 shows no binding schema for a plan that cannot be bound', () => {
    const [plan] = offering.plans
    if (plan === undefined) throw new Error('no plan')
    const schemas = only(toWireCatalog([{ ...offering, plans: [{ ...plan, bindable: false }] }], 17)).plan.schemas
    expect(Object.keys(isJsonObject(schemas) ? schemas : {})).toEqual(['service_instance'])
  })

  it('SCH-03 keeps the $schema an author gave', () => {
    const given = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' } as const
    const plans = [
      { id: 'p', name: 'n', description: 'd', schemas: { serviceInstance: { create: { parameters: given } } } },
    ]
    expect(only(toWireCatalog([{ ...offering, plans }], 17)).plan.schemas).toEqual({
      service_instance: { create: { parameters: given } },
    })
  })
})
