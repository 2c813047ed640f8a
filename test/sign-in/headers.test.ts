import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'

const authorization = `Basic ${btoa('ada:one')}`

describe('answers', () => {
  it('have the headers that keep them to themselves', async () => {
    const authenticator = createBasicAuthenticator([
      { username: 'ada', password: 'one', platform: 'default', roles: ['platform', 'admin'] },
    ])
    const broker = await startTestBroker({
      services: [serviceOf({})],
      transport: 'socket',
      authenticator,
      observer: {},
    })
    onTestFinished(() => broker.stop())
    const found: Record<string, readonly (string | null)[]> = {}
    for (const [path, method = 'GET', own = true] of [
      ['/v2/catalog'],
      ['/v2/service_instances/i'],
      ['/v2/service_instances/i/service_bindings/b'],
      ['/v2/service_instances/i', 'PUT'],
      ['/v2/nothing'],
      ['/v2/catalog', 'GET', false],
      ['/admin/me'],
      ['/admin/export'],
      ['/admin/nothing'],
      ['/admin/session', 'POST'],
      ['/admin/session', 'DELETE'],
      ['/admin/openapi.json'],
      ['/metrics'],
      ['/healthz'],
      ['/readyz'],
      ['/dashboards/i/t'],
      ['/console/sign-in'],
      ['/console'],
      ['/console/assets/none.js'],
    ] as const) {
      const headers = { 'x-broker-api-version': '2.17', ...(own && { authorization }) }
      const answer = await fetch(`${broker.url}${path}`, { method, headers, redirect: 'manual' })
      await answer.arrayBuffer()
      const names = ['x-content-type-options', 'referrer-policy', 'cache-control', 'strict-transport-security']
      found[`${method} ${path} ${answer.status}`] = names.map(name => answer.headers.get(name))
    }
    const usual = ['nosniff', 'no-referrer', 'no-store', null]
    for (const [asked, headers] of Object.entries(found)) {
      const kept =
        asked === 'GET /v2/catalog 200' ? 'no-cache' : asked.startsWith('GET /console 308') ? null : 'no-store'
      expect([asked, headers]).toEqual([asked, usual.with(2, kept)])
    }
    expect(Object.keys(found)).toHaveLength(19)
  })

  it('to what a parser gives up on have them too', async () => {
    const broker = await startTestBroker({ services: [serviceOf({})], transport: 'socket', observer: {} })
    onTestFinished(() => broker.stop())
    const long = await fetch(`${broker.url}/v2/catalog`, { headers: { 'x-long': 'x'.repeat(20_000) } })
    expect([long.status, long.headers.get('x-content-type-options')]).toEqual([431, 'nosniff'])
  })
})

/** Paths and headers that try to be somebody, or somewhere, else. */
describe('whoever is nobody', () => {
  it.each<[string, string, Record<string, string>]>([
    ['dots in the path', '/console/../admin/me', {}],
    ['dots that are encoded', '/console/%2e%2e/admin/me', {}],
    ['two slashes', '//admin/me', {}],
    ['a path in capitals', '/ADMIN/me', {}],
    ['a semicolon', '/admin;x=/me', {}],
    ['a slash that is encoded', '/healthz%2f..%2fadmin/me', {}],
    ['a path that begins as an open one', '/healthzadmin', {}],
    ['a prefix that is no prefix', '/consoles/v2/catalog', {}],
    ['another path in a header', '/v2/catalog', { 'x-original-url': '/healthz', 'x-rewrite-url': '/healthz' }],
    ['another method in a header', '/admin/me', { 'x-http-method-override': 'OPTIONS' }],
    ['a user in a header', '/admin/me', { 'x-forwarded-user': 'ada', 'x-remote-user': 'ada', 'remote-user': 'ada' }],
    ['this machine in a header', '/admin/me', { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' }],
    ['two credentials in one header', '/admin/me', { authorization: `Basic eDp5, ${authorization}` }],
    ['credentials for a proxy', '/admin/me', { 'proxy-authorization': authorization }],
    ['credentials under another name', '/admin/me', { 'x-authorization': authorization }],
  ])('is told nothing with %s', async (_, path, headers) => {
    const users = [{ username: 'ada', password: 'one', platform: 'default', roles: ['platform', 'admin'] as const }]
    const authenticator = createBasicAuthenticator(users)
    const broker = await startTestBroker({
      services: [serviceOf({})],
      transport: 'socket',
      authenticator,
      observer: {},
    })
    onTestFinished(() => broker.stop())
    const { request } = await import('node:http')
    const { hostname, port } = new URL(broker.url)
    // As it is: fetch would tidy the path up.
    const status = await new Promise<number>((resolve, reject) => {
      request({ hostname, port, path, headers: { 'x-broker-api-version': '2.17', ...headers } }, response => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })
    // The page of the console is for everybody, where it is built.
    expect(path.startsWith('/console/') ? [200, 404] : [401]).toContain(status)
  })
})
