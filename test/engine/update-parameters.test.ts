import { expect, it } from 'vitest'
import { defineService } from '../../src/index.ts'
import { startTestBroker } from '../../src/testing/index.ts'

const sized = (maximum: number) => ({
  serviceInstance: {
    create: { parameters: { type: 'object' as const, properties: { size: { type: 'integer' as const, maximum } } } },
  },
})

const service = defineService({
  id: 's',
  name: 's',
  description: 'Plans of two sizes',
  bindable: false,
  planUpdateable: true,
  plans: [
    { id: 'small', name: 'small', description: 'Up to 5', schemas: sized(5) },
    { id: 'large', name: 'large', description: 'Up to 50', schemas: sized(50) },
  ],
  parameters: { type: 'object', properties: { size: { type: 'integer' } } },
  async provision() {},
  async update() {},
  async deprovision() {},
})

it('judges the parameters that an instance has against the plan that an update leads to', async () => {
  const broker = await startTestBroker({ services: [service] })
  try {
    const place = { organization_guid: 'o', space_guid: 's' }
    const request = { service_id: 's', plan_id: 'large', parameters: { size: 20 }, ...place }
    expect((await broker.client.provision('i', request)).status).toBe(201)
    const refused = await broker.client.update('i', { service_id: 's', plan_id: 'small' })
    expect(refused.status).toBe(400)
    expect(String(refused.body.description)).toContain('size')
    const taken = await broker.client.update('i', { service_id: 's', plan_id: 'small', parameters: { size: 5 } })
    expect(taken.status).toBe(200)
  } finally {
    await broker.stop()
  }
})
