import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import type { BrokerEvents } from '../../src/events.ts'
import { createLogObserver } from '../../src/observer/log.ts'
import { combineObservers } from '../../src/observer.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { deferred, exchange } from './sockets.ts'

const users = [{ username: 'cf', password: 'right', platform: 'cf-eu', roles: ['platform', 'viewer'] as const }]
const authorization = `Basic ${Buffer.from('cf:right').toString('base64')}`
const osb = { authorization, 'x-broker-api-version': '2.17' }

async function start() {
  const requests: BrokerEvents['request.ended'][] = []
  const refusals: BrokerEvents['authentication.failed'][] = []
  const written: string[] = []
  const log = createLogObserver({ format: 'people', level: 'info', stream: { write: text => written.push(text) } })
  const slow = deferred()
  const broker = await startTestBroker({
    transport: 'socket',
    services: [
      {
        id: 's',
        name: 's',
        description: 'a service',
        bindable: false,
        plans: [{ id: 'p', name: 'p', description: 'a plan' }],
        provision: () => slow.promise,
        async deprovision() {},
      },
    ],
    routes: [{ method: 'GET', path: '/hooks/*', handle: async () => new Response('ok') }],
    authenticator: createBasicAuthenticator(users),
    observer: combineObservers(
      {
        'request.ended': event => requests.push(event),
        'authentication.failed': event => refusals.push(event),
      },
      log,
    ),
    settings: { osb: { requireOrgAndSpace: false, prefixes: ['east'] } },
  })
  onTestFinished(() => broker.stop())
  const port = Number(new URL(broker.url).port)
  const get = (path: string, headers: Record<string, string> = osb) => fetch(`${broker.url}${path}`, { headers })
  const lines = () => {
    // All that waits is written with a warning.
    log['chore.lost']?.({ chore: 'of this test' })
    return written.join('').split('\n').slice(0, -2)
  }
  return { broker, requests, refusals, lines, slow, port, get }
}

describe('every request has an event', () => {
  it('with its route, path, status, size, principal and platform', async () => {
    const { requests, get } = await start()
    await get('/v2/catalog', {
      ...osb,
      'x-broker-api-request-identity': 'r-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    })
    await get('/east/v2/service_instances/i?service_id=s')
    await get('/admin/operations/x/log')
    await get('/nothing')
    expect(requests).toMatchObject([
      { method: 'GET', route: '/v2/catalog', path: '/v2/catalog', status: 200, principal: 'cf', platform: 'cf-eu' },
      {
        route: '/v2/service_instances/:instance',
        path: '/east/v2/service_instances/i',
        status: 404,
        platform: 'cf-eu/east',
      },
      { route: '/admin/operations/:id/log', status: 404, platform: 'cf-eu' },
      { path: '/nothing', status: 404 },
    ])
    expect(requests[0]).toMatchObject({
      requestId: 'r-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      address: '127.0.0.1',
    })
    expect(requests[0]?.bytes).toBeGreaterThan(50)
    expect(requests[3]?.route).toBeUndefined()
  })

  it('three 401s leave three lines, and the reason stands in an event of its own', async () => {
    const { requests, refusals, lines, get } = await start()
    const wrong = `Basic ${Buffer.from('cf:wrong').toString('base64')}`
    await get('/v2/catalog', {})
    await get('/v2/catalog', { authorization: 'Bearer canary' })
    await get('/v2/catalog', { authorization: wrong })
    expect(requests.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(
      lines().filter(line => / INFO {2}request method=GET path=\/v2\/catalog status=401 /.test(line)),
    ).toHaveLength(3)
    expect(refusals.map(({ scheme, reason }) => [scheme, reason])).toEqual([
      [undefined, 'no credentials of a kind that is accepted'],
      [undefined, 'no credentials of a kind that is accepted'],
      ['basic', 'wrong username or password'],
    ])
    // As warnings, which an embedded broker logs as well.
    const warned = lines().filter(line => / WARN {2}authentication failed method=GET path=\/v2\/catalog /.test(line))
    expect(warned).toHaveLength(3)
    expect(JSON.stringify([requests, refusals, lines()])).not.toMatch(/canary|cf:|Basic /)
  })

  it('never with a secret: no query, no dashboard token, not the rest of a path that is the author’s', async () => {
    const { requests, lines, get } = await start()
    await get('/v2/catalog?token=canary')
    await get('/dashboards/i/canary')
    await get('/hooks/canary')
    expect(requests.map(({ path }) => path)).toEqual(['/v2/catalog', '/dashboards/:instance/:token', '/hooks/*'])
    expect(JSON.stringify([requests, lines()])).not.toContain('canary')
  })

  it('also where the application never saw it', async () => {
    const { requests, port } = await start()
    await exchange(port, 'nonsense\r\n\r\n')
    await exchange(port, `GET /x HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`)
    await exchange(port, 'GET /v2/catalog?a=b HTTP/1.1\r\nConnection: close\r\n\r\n')
    await exchange(port, 'GET /x HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n')
    expect(requests.map(({ method, path, status }) => [method, path, status])).toEqual([
      [undefined, undefined, 400],
      [undefined, undefined, 431],
      ['GET', '/v2/catalog', 400],
      ['GET', '/x', 417],
    ])
    for (const { address, aborted } of requests) expect([address, aborted]).toEqual(['127.0.0.1', false])
  })

  it('a body that is too large, and one that never comes', async () => {
    const { requests, port } = await start()
    const put = `PUT /v2/service_instances/i HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nX-Broker-API-Version: 2.17\r\n`
    await exchange(port, `${put}Content-Length: 9000000\r\n\r\n`)
    await exchange(port, `${put}Content-Length: 10\r\n\r\n{`, socket => socket.destroy()).catch(() => '')
    await expect.poll(() => requests.length).toBe(2)
    expect(requests).toMatchObject([
      { status: 413, aborted: false },
      { status: 400, aborted: true },
    ])
  })

  it('a client that hangs up before the answer', async () => {
    const { broker, requests, lines, slow, port } = await start()
    const body = JSON.stringify({ service_id: 's', plan_id: 'p' })
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `PUT /v2/service_instances/i HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nX-Broker-API-Version: 2.17\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await expect.poll(() => broker.store.instance('i')).toBeDefined()
    socket.destroy()
    await new Promise(resolve => socket.once('close', resolve))
    slow.resolve()
    await expect.poll(() => requests.length).toBe(1)
    expect(requests).toMatchObject([{ method: 'PUT', aborted: true }])
    expect(lines().join('\n')).toMatch(/request aborted method=PUT path=\/v2\/service_instances\/i status=201/)
  })
})

describe('the log', () => {
  it('leaves out health checks that succeed: they come every few seconds', async () => {
    const { requests, lines, get } = await start()
    await get('/healthz')
    await get('/readyz')
    expect(requests.map(({ route }) => route)).toEqual(['/healthz', '/readyz'])
    expect(lines()).toEqual([])
  })
})
