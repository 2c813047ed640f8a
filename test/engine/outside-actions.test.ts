import { describe, expect, it, onTestFinished } from 'vitest'
import type { BrokerEvents } from '../../src/events.ts'
import { type Service, TerminalError } from '../../src/index.ts'
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

describe('what code outside of actions throws or returns is named by its source', () => {
  const nothing = () => Promise.reject(undefined)
  const threw = 'threw undefined: throw an Error'
  it.each<[string, () => unknown, string]>([
    ['throws undefined', nothing, `the route "GET /own" ${threw}`],
    ['returns a number', () => 5, 'the route "GET /own" must return a Response, not a number'],
    ['returns nothing', () => undefined, 'the route "GET /own" must return a Response, not undefined'],
  ])('a route that %s', async (_, handle, message) => {
    const routes = [{ method: 'GET', path: '/own', handle: handle as never }]
    const { handle: ask, failures } = await start({}, { routes })
    const asked = { method: 'GET', url: '/own', headers: {}, encrypted: false, body: async () => new Uint8Array() }
    expect((await ask(asked)).status).toBe(500)
    expect(failures).toEqual([message])
  })

  it.each<[string, () => unknown, string]>([
    ['throws undefined', nothing, `presentCatalog ${threw}`],
    ['returns a number', () => 5, 'presentCatalog must return a list of offerings, not a number'],
    ['returns numbers', () => [5], 'presentCatalog must return a list of offerings, and number 1 is a number'],
  ])('a presentCatalog that %s', async (_, presentCatalog, message) => {
    const { client, failures } = await start({}, { presentCatalog: presentCatalog as never })
    expect((await client.catalog()).status).toBe(500)
    expect(failures).toEqual([message])
  })

  it.each<[string, () => unknown, string]>([
    ['throws a text', () => Promise.reject('no'), 'threw the text "no": throw an Error'],
    ['returns nothing', () => undefined, 'must return an object, not undefined'],
    ['returns a BigInt', () => ({ size: 1n }), 'returned what cannot be sent: body.size is a BigInt.'],
  ])('a fetchInstance, and a fetchBinding, that %s', async (_, fetched, message) => {
    const service = {
      bind: async () => ({ credentials: {} }),
      async unbind() {},
      fetchInstance: fetched as never,
      fetchBinding: fetched as never,
    }
    const { client, clock, failures } = await start(service)
    await client.provision('i', ids, incomplete)
    await clock.advance(1_000)
    await client.bind('i', 'b', ids, incomplete)
    await clock.advance(1_000)
    expect((await client.fetchInstance('i')).status).toBe(500)
    expect((await client.fetchBinding('i', 'b')).status).toBe(500)
    const of = (name: string) => expect.stringContaining(`${name} of the service "service" ${message}`)
    expect(failures).toEqual([of('fetchInstance'), of('fetchBinding')])
  })

  it('an error hook that throws undefined', async () => {
    const said: string[] = []
    const observer = { 'hook.failed': ({ error }: BrokerEvents['hook.failed']) => void said.push(error.message) }
    const provision = () => Promise.reject(new TerminalError('no'))
    const { client, clock } = await start({ provision }, { observer, hooks: [{ name: 'audit', error: nothing }] })
    await client.provision('i', ids, incomplete)
    await clock.advance(1_000)
    expect(said).toEqual([`the hook "audit" ${threw}`])
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
