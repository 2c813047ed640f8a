import { trace } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { expect, it, onTestFinished } from 'vitest'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { ids, incomplete, serviceOf } from '../engine/world.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

async function provision() {
  const warnings: string[] = []
  const broker = await startTestBroker({
    services: [serviceOf({})],
    settings: { osb: { requireOrgAndSpace: false }, traces: { mode: 'linked' } },
    observer: { 'configuration.warning': ({ message }) => warnings.push(message) },
  })
  const send = (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    request.headers.set('traceparent', traceparent)
    return broker.fetch(request)
  }
  const { body } = await broker.createClient({ fetch: send as typeof fetch }).provision('i', ids, incomplete)
  const operation = await broker.store.operation(body.operation ?? '')
  await broker.stop()
  return { warnings, traceparent: operation?.traceparent }
}

it('traces that nobody would see are not made, and that is said; what the client sent is kept for the log', async () => {
  expect(await provision()).toEqual({
    warnings: [expect.stringMatching(/traces\.mode is linked.*register one before the broker starts/)],
    traceparent,
  })
})

it('an SDK that is registered before the broker starts is found', async () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider())
  onTestFinished(() => trace.disable())
  const found = await provision()
  expect(found.warnings).toEqual([])
  // The span of the accept, under that of the request, in the client's trace.
  expect(found.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)/)
})
