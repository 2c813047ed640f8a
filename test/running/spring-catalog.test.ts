import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createBroker, defineBroker, defineService } from '../../src/index.ts'

const property = (service: number, key: string, value: string) =>
  `spring.cloud.openservicebroker.catalog.services[${service}].${key}=${value}\n`

const lines = ['one', 'two'].flatMap((name, service) => [
  property(service, 'id', name),
  property(service, 'name', name),
  property(service, 'description', 'A service'),
  property(service, 'instancesRetrievable', 'true'),
  property(service, 'plans[0].id', 'shared'),
  property(service, 'plans[0].name', 'small'),
  property(service, 'plans[0].description', `Of \${OWNER_OF_PLANS:nobody}`),
])

it('a broker works with the application.properties of a Spring broker, and is warned once of each thing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'purser-spring-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const catalog = join(folder, 'application.properties')
  await writeFile(catalog, `${lines.join('')}spring.cloud.appbroker.services[0].service-name=one\n`)
  const service = (id: string) => defineService({ id, provision: () => ({ state: { id } }), deprovision: () => {} })
  const warnings: string[] = []
  const broker = createBroker(defineBroker({ services: [service('one'), service('two')], catalog }), {
    store: 'memory:',
    authenticator: 'none',
    observer: { 'catalog.warning': ({ message }) => void warnings.push(message.replace(folder, '')) },
  })
  onTestFinished(() => broker.close())
  const call = (method: string, path: string, body?: object) =>
    broker.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { 'x-broker-api-version': '2.17', 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      }),
    )
  const catalogBody: unknown = await (await call('GET', '/v2/catalog')).json()
  expect(Object(catalogBody).services).toMatchObject([
    { id: 'one', bindable: false, plans: [{ id: 'shared', description: 'Of nobody' }] },
    { id: 'two', plans: [{ id: 'shared' }] },
  ])
  expect(warnings).toEqual([
    '/application.properties: "spring.cloud.appbroker" is passed over: nothing is deployed from it; do it in your services\' actions',
    expect.stringContaining(
      '/application.properties:12:1 (service "two" > plan "small"): the plan id "shared" is already',
    ),
  ])
  const ids = { plan_id: 'shared', organization_guid: 'o', space_guid: 's' }
  for (const service_id of ['one', 'two']) {
    const path = `/v2/service_instances/of-${service_id}`
    const { status } = await call('PUT', path, { service_id, ...ids })
    expect(status).toBe(201)
    expect(await (await call('GET', path)).json()).toMatchObject({ service_id, plan_id: 'shared' })
  }
})
