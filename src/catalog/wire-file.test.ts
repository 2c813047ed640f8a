import { describe, expect, it } from 'vitest'
import { createDemoBroker } from '../demo/demo-broker.ts'
import type { Offering } from '../protocol/offering.ts'
import { readCatalog } from './load-yaml.ts'
import { formatProblem } from './problem.ts'
import { toWireCatalog } from './wire-catalog.ts'

const load = (text: string, file = 'catalog.json') =>
  readCatalog(text, file, { readImage: async () => undefined, env: {} })
const roundTrip = async (wire: object) => toWireCatalog((await load(JSON.stringify(wire))).offerings, 17)

const full = {
  services: [
    {
      id: 's',
      name: 'service',
      description: 'A service',
      tags: ['a'],
      requires: ['syslog_drain'],
      bindable: true,
      instances_retrievable: true,
      bindings_retrievable: false,
      allow_context_updates: true,
      metadata: { displayName: 'S', 'display-name': 'kept', properties: { a: 1 }, image_url_resource: 'x.png' },
      dashboard_client: { id: 'c', secret: 'x', redirect_uri: 'https://example.com' },
      plan_updateable: true,
      plans: [
        {
          id: 'p',
          name: 'plan',
          description: 'A plan',
          metadata: { costs: [{ amount: { usd: 1.5 }, unit: 'MONTHLY' }], bullets: ['b'] },
          free: false,
          bindable: true,
          binding_rotatable: true,
          plan_updateable: false,
          schemas: {
            service_instance: {
              create: {
                parameters: {
                  $schema: 'http://json-schema.org/draft-04/schema#',
                  type: 'object',
                  properties: { some_key: { type: 'string' } },
                },
              },
              update: { parameters: { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' } },
            },
            service_binding: {
              create: { parameters: { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' } },
            },
          },
          maximum_polling_duration: 3600,
          maintenance_info: { version: '1.0.0', description: 'New' },
        },
      ],
    },
  ],
}

describe('catalog.json as a broker answers it', () => {
  it('is the same after it was loaded', async () => {
    expect(await roundTrip(full)).toEqual(full)
    expect((await load(JSON.stringify(full))).warnings).toEqual([])
  })

  it("the demo's is", async () => {
    const { services } = createDemoBroker({ folder: '/nowhere', url: () => 'http://127.0.0.1' })
    const offerings = services.map(({ id, name, description, bindable = false, plans, metadata, tags }) => {
      return { id, name, description, bindable, plans, metadata, tags } as Offering
    })
    const wire = JSON.parse(JSON.stringify(toWireCatalog(offerings, 17)))
    expect(wire.services.length).toBeGreaterThan(0)
    expect(JSON.parse(JSON.stringify(await roundTrip(wire)))).toEqual(wire)
  })

  it('a mistake names its fields as the file does, and the file as JSON', async () => {
    const [service] = full.services
    const plan = { ...service?.plans[0], maximum_polling_duration: 'long' }
    await expect(load(JSON.stringify({ services: [{ ...service, plans: [plan] }] }))).rejects.toThrow(
      '"maximum_polling_duration" must be',
    )
    await expect(load('{ "services": [')).rejects.toThrow('catalog.json:1:16: not valid JSON; correct the text there')
  })

  it('null is absent, and what the OSB API does not know is passed over with a warning', async () => {
    const [service] = full.services
    const foreign = { services: [{ ...service, metadata: null, dashboard_client: null, max_storage_tb: 5 }] }
    const { offerings, warnings } = await load(JSON.stringify(foreign, undefined, 1))
    expect(offerings[0]).not.toHaveProperty('metadata')
    expect(warnings.map(formatProblem)).toEqual([
      expect.stringMatching(/^catalog\.json:\d+:\d+ \(service "service"\): "max_storage_tb" is not known here; /),
    ])
  })
})

it('public, which is a platform’s business, is a warning in any catalog', async () => {
  const text = `services:
- { id: s, name: n, description: d, bindable: true, public: true, plans: [{ id: p, name: n, description: d, public: no }] }
`
  const { offerings, warnings } = await load(text, 'catalog.yaml')
  expect(offerings).toHaveLength(1)
  expect(warnings.map(formatProblem)).toEqual([
    expect.stringContaining('(service "n"): "public" is not known here'),
    expect.stringContaining('(service "n" > plan "n"): "public" is not known here'),
  ])
  await expect(load(text.replaceAll('public', 'pubic'), 'catalog.yaml')).rejects.toThrow('"pubic" is not known here')
})
