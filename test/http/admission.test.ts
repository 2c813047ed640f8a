import { describe, expect, it, onTestFinished } from 'vitest'
import type { Authenticator } from '../../src/authenticator.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { silent } from '../../src/observer.ts'
import { startTestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { ids, serviceOf } from '../engine/world.ts'
import { deferred } from './sockets.ts'

const places = 1_000

describe('a broker with more requests than it can answer in time', () => {
  it('refuses new work before it looks at it; polls, deletions and health are served', async () => {
    const { broker, door } = await startGuarded()
    const held = Array.from({ length: places }, (_, index) => broker.handle(put(`i${index}`)))
    await until(() => door.asked() === places)

    const refused = put('one-too-many', { 'x-broker-api-request-identity': 'r-1' })
    const answer = await broker.handle(refused)
    expect(answer.status).toBe(503)
    expect(answer.headers).toMatchObject({ 'retry-after': '1', 'x-broker-api-request-identity': 'r-1' })
    expect(JSON.parse(String(answer.body))).toEqual({
      error: 'Overloaded',
      description: 'The broker has more requests than it can answer in time. Repeat it later.',
    })
    expect({ asked: door.asked(), read: refused.read }).toEqual({ asked: places, read: 0 })
    for (const path of ['/healthz', '/readyz'])
      expect((await broker.handle(request('GET', path))).status, path).toBe(200)

    const more = [
      broker.handle(request('GET', '/v2/service_instances/i0/last_operation')),
      broker.handle(request('DELETE', '/v2/service_instances/none?service_id=service&plan_id=plan')),
    ]
    await until(() => door.asked() === places + 2)
    door.open()
    expect((await Promise.all(more)).map(({ status }) => status)).not.toContain(503)
    expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set([202]))
    expect((await broker.handle(put('one-too-many'))).status).toBe(202)
  })

  it('does not count requests that only wait for their operation', async () => {
    const { broker, door } = await startGuarded({
      services: [serviceOf({ provision: () => new Promise<never>(() => {}) })],
    })
    door.open()
    const waiting = Array.from({ length: places + 1 }, (_, index) => broker.handle(put(`i${index}`, {}, '')))
    await until(async () => (await broker.store.instance(`i${places - 1}`)) !== undefined)
    expect((await broker.handle(put('another'))).status).toBe(202)
    await broker.stop()
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toContain(503)
  })

  it('holds only so many bytes of bodies', async () => {
    const { broker, door } = await startGuarded()
    const large = { 'content-length': String(1024 * 1024) }
    const held = Array.from({ length: 128 }, (_, index) => broker.handle(put(`i${index}`, large)))
    await until(() => door.asked() === 128)
    expect((await broker.handle(put('large', large))).status).toBe(503)
    expect((await broker.handle(put('chunked', { 'transfer-encoding': 'chunked' }))).status).toBe(503)
    expect(door.asked()).toBe(128)
    door.open()
    await Promise.all(held)
    expect((await broker.handle(put('large', large))).status).toBe(202)
  })

  it('lets nobody without credentials take the places and the bytes of platforms', async () => {
    const gate = deferred()
    let asked = 0
    const routes = ['GET', 'POST'].map(method => ({
      method,
      path: '/own',
      handle: async () => {
        asked += 1
        await gate.promise
        return new Response('done')
      },
    }))
    const { broker, door } = await startGuarded({ routes })
    onTestFinished(() => gate.resolve())
    door.open()
    const statusOf = async (sent: HttpRequest) => (await broker.handle(sent)).status
    const large = request('POST', '/own', { 'content-length': String(1024 * 1024) })
    // Undefined for one that is let in: it would wait for the gate.
    const statusNow = (sent: HttpRequest) => Promise.race([statusOf(sent), turns(100)])
    const held = Array.from({ length: 32 }, () => statusOf(large))
    await until(() => asked === 32)
    expect(await statusNow(large)).toBe(503)
    expect(await statusNow(request('POST', '/own', { 'transfer-encoding': 'chunked' }))).toBe(503)
    for (let index = 32; index < 1000; index += 1) held.push(statusOf(request('GET', '/own')))
    await until(() => asked === 1000)
    expect(await statusNow(request('GET', '/own'))).toBe(503)
    expect(await statusOf(request('GET', '/healthz'))).toBe(200)
    await broker.clock.advance(60_000)
    expect(await statusOf(put('large', { 'content-length': String(1024 * 1024) }))).toBe(202)
    gate.resolve()
    expect(new Set(await Promise.all(held))).toEqual(new Set([200]))
    expect(await statusOf(put('another'))).toBe(202)
  })

  it('serves fewer at once when they take longer, and all again when they do not', async () => {
    const { broker, door } = await startGuarded()
    const first = Array.from({ length: 200 }, (_, index) => broker.handle(put(`slow${index}`)))
    await until(() => door.asked() === 200)
    await broker.clock.advance(60_000)
    door.open()
    await Promise.all(first)
    door.close()
    const second = Array.from({ length: 200 }, (_, index) => broker.handle(put(`i${index}`)))
    let out = 0
    for (const each of second)
      void each.then(() => {
        out += 1
      })
    await until(() => out > 0)
    expect(out).toBe(50)
    await broker.clock.advance(1_000)
    const refused = await Promise.all(second.slice(100))
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(10)
    door.open()
    await Promise.all(second)
    for (let index = 0; index < 200; index += 1) await broker.handle(request('GET', '/v2/catalog'))
    door.close()
    const third = Array.from({ length: 200 }, (_, index) => broker.handle(put(`again${index}`)))
    await until(() => door.asked() >= 200 + 200)
    door.open()
    expect(new Set((await Promise.all(third)).map(({ status }) => status))).toEqual(new Set([202]))
  })
})

/** A broker whose authenticator does not answer while the door is closed. */
async function startGuarded(options: Partial<TestBrokerOptions> = {}) {
  let asked = 0
  let gate = deferred()
  const principal = { name: 'platform', platform: 'platform', roles: ['platform'] } as const
  const authenticator: Authenticator = {
    scheme: 'door',
    async authenticate() {
      asked += 1
      await gate.promise
      return principal
    },
  }
  const broker = await startTestBroker({
    services: [serviceOf({})],
    observer: silent,
    authenticator,
    settings: { osb: { requireOrgAndSpace: false } },
    ...options,
  })
  const door = {
    asked: () => asked,
    open: () => gate.resolve(),
    close() {
      gate = deferred()
    },
  }
  onTestFinished(() => {
    // A broker waits for its requests before it stops, and after a failure they may still be at the door.
    door.open()
    return broker.stop()
  })
  return { broker, door }
}

function request(method: string, url: string, headers: Record<string, string> = {}, body = '') {
  return {
    method,
    url,
    headers: { 'x-broker-api-version': '2.17', host: 'broker.test', ...headers },
    encrypted: false,
    read: 0,
    async body() {
      this.read += 1
      return Buffer.from(body)
    },
  } satisfies HttpRequest & { read: number }
}

function put(id: string, headers?: Record<string, string>, query = '?accepts_incomplete=true') {
  return request('PUT', `/v2/service_instances/${id}${query}`, headers, JSON.stringify(ids))
}

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise(setImmediate)
}

async function turns(count: number): Promise<undefined> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
  return undefined
}
