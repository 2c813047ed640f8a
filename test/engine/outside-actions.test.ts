import { describe, expect, it, onTestFinished } from 'vitest'
import type { BrokerEvents } from '../../src/events.ts'
import type { Service } from '../../src/index.ts'
import { startTestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { ids, incomplete, serviceOf } from './world.ts'

describe('what the dashboard of a service returns is checked', () => {
  const rule = 'dashboard of the service "service" must return a URL that begins with http:// or https://, not'
  it.each<[string, () => unknown, string]>([
    ['a promise', async () => 'https://x.example', `${rule} a promise`],
    ['a promise that is rejected', () => Promise.reject(new Error('no')), `${rule} a promise`],
    ['a number', () => 5, `${rule} a number`],
    ['nothing', () => undefined, `${rule} undefined`],
    ['another text', () => 'not url', `${rule} another text`],
  ])('%s', async (_, dashboard, message) => {
    const { client, failures } = await start({ dashboard: dashboard as never })
    const answered = await client.provision('i', ids, incomplete)
    expect(answered).toMatchObject({ status: 500, body: { error: 'InternalError' } })
    expect(failures).toEqual([message])
    expect((await client.lastOperation('i')).status).toBe(404)
  })
})

/** A broker whose failed requests are told by their messages. */
async function start(service: Partial<Service>, options: Partial<TestBrokerOptions> = {}) {
  const failures: string[] = []
  const observer = {
    'request.failed': ({ error }: BrokerEvents['request.failed']) => void failures.push(error.message),
  }
  const settings = { osb: { requireOrgAndSpace: false } }
  const broker = await startTestBroker({ services: [serviceOf(service)], settings, observer, ...options })
  onTestFinished(() => broker.stop())
  return { ...broker, failures }
}
