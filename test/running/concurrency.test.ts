import { expect, it, onTestFinished } from 'vitest'
import { createBroker, defineService } from '../../src/index.ts'

it('an embedded broker runs as many operations at a time as engine.concurrency says', async () => {
  const waiting: (() => void)[] = []
  let running = 0
  let most = 0
  let ended = 0
  const service = defineService({
    id: 'service',
    name: 'service',
    description: 'Waits until it is told to go on.',
    bindable: false,
    plans: [{ id: 'plan', name: 'plan', description: 'A plan.' }],
    async provision() {
      running += 1
      most = Math.max(most, running)
      await new Promise<void>(resolve => waiting.push(resolve))
      running -= 1
      return {}
    },
    deprovision() {},
  })
  const broker = createBroker(
    { services: [service] },
    {
      store: 'memory:',
      authenticator: 'none',
      observer: {
        'operation.succeeded': () => {
          ended += 1
        },
      },
      settings: { engine: { concurrency: 2 } },
    },
  )
  onTestFinished(() => broker.close())
  const body = JSON.stringify({ service_id: 'service', plan_id: 'plan', organization_guid: 'o', space_guid: 's' })
  const headers = { 'x-broker-api-version': '2.17', 'content-type': 'application/json' }
  for (let n = 0; n < 7; n++) {
    const url = `http://localhost/v2/service_instances/i-${n}?accepts_incomplete=true`
    expect((await broker.fetch(new Request(url, { method: 'PUT', headers, body }))).status).toBe(202)
  }
  for (let n = 0; n < 7; n++) {
    await expect.poll(() => waiting.length).toBeGreaterThan(0)
    waiting.shift()?.()
  }
  await expect.poll(() => ended).toBe(7)
  expect(most).toBe(2)
})
