import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import type { BrokerEvents, Service } from '../../src/index.ts'
import { TerminalError } from '../../src/index.ts'
import { silent } from '../../src/observer.ts'
import { startTestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { ids, incomplete, seconds, serviceOf } from '../engine/world.ts'
import { cheapHash } from './cheap-hash.ts'

const passwordHash = cheapHash('right')

async function start(settings: TestBrokerOptions['settings'], actions: Partial<Service> = {}) {
  const limited: BrokerEvents['request.limited'][] = []
  const users = [
    ...['cf', 'kube'].map(username => ({ username, platform: username, roles: ['platform' as const] })),
    { username: 'ops', platform: 'operators', roles: ['viewer' as const] },
  ].map(user => ({ ...user, passwordHash }))
  const broker = await startTestBroker({
    services: [serviceOf({ bind: () => ({ credentials: {} }), unbind() {}, ...actions })],
    authenticator: createBasicAuthenticator(users, createVirtualClock()),
    observer: { ...silent, 'request.limited': event => limited.push(event) },
    settings: { ...settings, osb: { requireOrgAndSpace: false } },
  })
  onTestFinished(() => broker.stop())
  const clientOf = (username: string) => broker.createClient({ username, password: 'right' })
  const send = (login: string, path: string) => {
    const authorization = `Basic ${Buffer.from(`${login}:right`).toString('base64')}`
    const headers = { authorization, 'x-broker-api-version': '2.17', 'x-broker-api-request-identity': 'r-1' }
    return broker.fetch(new Request(`${broker.url}${path}`, { headers }))
  }
  return { ...broker, limited, clientOf, send, cf: clientOf('cf'), kube: clientOf('kube') }
}

describe('requests of a principal', () => {
  it('are refused beyond its rate, with a time, and others are not', async () => {
    const { send, limited, clock } = await start({ limits: { requestsPerSecond: 2, burst: 3 } })
    const poll = '/v2/service_instances/none/last_operation'
    const statuses: number[] = []
    for (const path of ['/v2/catalog', poll, '/v2/catalog']) statuses.push((await send('cf', path)).status)
    expect(statuses).toEqual([200, 404, 200])
    const refused = await send('cf', poll)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('x-broker-api-request-identity')).toBe('r-1')
    expect(await refused.json()).toEqual({
      error: 'TooManyRequests',
      description: 'You have sent too many requests. Repeat this one later.',
    })
    expect(limited).toEqual([
      { limit: 'rate', platform: 'cf', principal: 'cf', requestId: 'r-1', traceparent: undefined },
    ])
    expect((await send('kube', '/v2/catalog')).status).toBe(200)
    for (const path of ['/healthz', '/readyz']) expect((await send('cf', path)).status, path).toBe(200)
    // What is refused does not count.
    for (let again = 0; again < 20; again += 1) expect((await send('cf', '/v2/catalog')).status).toBe(429)
    await clock.advance(seconds(1))
    expect((await send('cf', '/v2/catalog')).status).toBe(200)
  })

  it('are refused before anything is done for them', async () => {
    const begun: string[] = []
    const { cf, store } = await start(
      { limits: { requestsPerSecond: 1, burst: 1 } },
      { provision: ctx => void begun.push(ctx.instance.id) },
    )
    expect((await cf.provision('one', ids, incomplete)).status).toBe(202)
    expect(await cf.provision('two', ids, incomplete)).toMatchObject({
      status: 429,
      body: { error: 'TooManyRequests' },
    })
    expect(await store.instance('two')).toBeUndefined()
  })

  it('count for operators too, and are not counted without a setting', async () => {
    const strict = await start({ limits: { requestsPerSecond: 1, burst: 2 } })
    const statuses: number[] = []
    for (let asked = 0; asked < 3; asked += 1) statuses.push((await strict.send('ops', '/admin/me')).status)
    expect(statuses).toEqual([200, 200, 429])
    const open = await start({})
    const all = await Promise.all(Array.from({ length: 300 }, () => open.send('cf', '/v2/catalog')))
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
  })
})

describe('the quota of a platform', () => {
  it('refuses an instance too many, in words for its user, until one is deleted', async () => {
    const { cf, kube, clock, limited, send } = await start({
      quotas: { instances: 2, platforms: [{ platform: 'kube', instances: 1, bindings: 3 }] },
    })
    for (const id of ['a', 'b']) expect((await cf.provision(id, ids, incomplete)).status).toBe(202)
    expect(await cf.provision('c', ids, incomplete)).toMatchObject({
      status: 422,
      body: {
        error: 'QuotaExceeded',
        description:
          "The platform cf has all of the 2 instances that it may have. Delete an instance, or ask the broker's operator for more.",
      },
    })
    expect(limited).toMatchObject([{ limit: 'instances', platform: 'cf' }])
    expect((await cf.provision('a', ids, incomplete)).status, 'a repeated request').toBe(202)
    await clock.advance(seconds(1))
    expect((await cf.provision('a', ids, incomplete)).status, 'and when it has ended').toBe(200)
    expect((await kube.provision('k', ids, incomplete)).status).toBe(202)
    expect((await kube.provision('l', ids, incomplete)).status).toBe(422)
    await clock.advance(seconds(1))
    expect(await (await send('ops', '/admin/quotas')).json()).toEqual({
      items: [
        { platform: 'cf', use: { instances: 2, bindings: 0, operations: 0 }, limit: { instances: 2 } },
        { platform: 'kube', use: { instances: 1, bindings: 0, operations: 0 }, limit: { instances: 1, bindings: 3 } },
      ],
    })
    expect((await cf.deprovision('b', ids, incomplete)).status).toBe(202)
    expect((await cf.provision('c', ids, incomplete)).status, 'it is there until it is deleted').toBe(422)
    await clock.advance(seconds(1))
    expect((await cf.provision('c', ids, incomplete)).status).toBe(202)
  })

  it('lets as many of many at once pass as there is room for', async () => {
    const { cf } = await start({ quotas: { instances: 3 } })
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => cf.provision(`i${index}`, ids, incomplete)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(202), ...Array(7).fill(422)])
  })

  it('counts a failed instance until it is deleted, and not one that was refused at once', async () => {
    const { cf, clock } = await start(
      { quotas: { instances: 1 } },
      {
        provision({ instance: { id } }) {
          if (id === 'refused') throw new TerminalError('no', { status: 400 })
          if (id === 'broken') throw new TypeError('broken')
        },
        actions: { provision: { retry: { attempts: 1 } } },
      },
    )
    const put = async (id: string) => {
      const { status } = await cf.provision(id, ids, incomplete)
      await clock.advance(seconds(5))
      return status
    }
    expect(await put('refused')).toBe(202)
    expect(await put('broken')).toBe(202)
    expect(await put('next')).toBe(422)
    expect(await put('broken'), 'a new attempt at the same').toBe(202)
    await cf.deprovision('broken', ids, incomplete)
    await clock.advance(seconds(60))
    expect(await put('next')).toBe(202)
  })

  it('limits bindings over all instances', async () => {
    const { cf, clock } = await start({ quotas: { bindings: 2 } })
    for (const id of ['i', 'j']) await cf.provision(id, ids, incomplete)
    await clock.advance(seconds(1))
    for (const [instance, binding] of [
      ['i', 'b1'],
      ['j', 'b2'],
    ] as const)
      expect((await cf.bind(instance, binding, ids, {})).status).toBe(201)
    expect(await cf.bind('i', 'b3', ids, {})).toMatchObject({ status: 422, body: { error: 'QuotaExceeded' } })
    expect((await cf.bind('i', 'b1', ids, {})).status).toBe(200)
    expect((await cf.unbind('i', 'b1', ids, {})).status).toBe(200)
    expect((await cf.bind('i', 'b3', ids, {})).status).toBe(201)
  })

  it('limits operations in progress, and never a deletion', async () => {
    let goOn = () => {}
    const told = new Promise<void>(resolve => {
      goOn = resolve
    })
    const { cf, clock } = await start({ quotas: { operations: 2 } }, { provision: () => told })
    for (const id of ['a', 'b']) expect((await cf.provision(id, ids, incomplete)).status).toBe(202)
    const refused = await cf.provision('c', ids, incomplete)
    expect(refused).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } })
    expect(refused.headers['retry-after']).toBe('5')
    expect((await cf.provision('a', ids, incomplete)).status, 'a repeated request').toBe(202)
    expect((await cf.deprovision('a', ids, incomplete)).status).toBe(202)
    goOn()
    await clock.advance(seconds(60))
    expect((await cf.provision('c', ids, incomplete)).status).toBe(202)
  })
})
