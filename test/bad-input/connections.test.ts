import { describe, expect, it } from 'vitest'
import { createOpenAuthenticator } from '../../src/authenticator/open.ts'
import { listen } from '../../src/http/node.ts'
import { startBroker } from '../../src/running/start-broker.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { createBackend } from '../conformance/backend.ts'
import { createServices } from '../conformance/services.ts'
import { attacking, binding, expectRefusal, instance, place, sync } from './target.ts'
import { exchange, parseAnswers, type RawRequest, toWire } from './wire.ts'

const body = JSON.stringify({ ...sync, ...place })
const headers = [
  ['Host', 'broker.test'],
  ['X-Broker-API-Version', '2.17'],
] as const
const put = (id: string): RawRequest => ({ method: 'PUT', path: instance(id), headers, body })
const last: RawRequest = { method: 'GET', path: '/v2/catalog', headers: [...headers, ['Connection', 'close']] }

describe('a request that is cut', () => {
  const whole = toWire(put('cut'))
  const chunked = toWire({ ...put('cut'), chunked: 10 })

  it('anywhere creates nothing, and is answered 400 if there was anything to answer', () =>
    attacking(async target => {
      for (const wire of [whole, chunked]) {
        const cuts = [
          1,
          5,
          20,
          wire.indexOf('\r\n\r\n') + 2,
          wire.indexOf('\r\n\r\n') + 4,
          wire.length - 6,
          wire.length - 1,
        ]
        for (const cut of cuts) {
          const received = await exchange(target.port, wire.subarray(0, cut), socket => socket.end())
          for (const answer of parseAnswers(received)) expectRefusal(answer, 400)
        }
      }
      expect(await target.store.instance('cut')).toBeUndefined()
      expect(target.backend.done).toEqual([])
    }))

  it('by a client that vanishes creates nothing', () =>
    attacking(async target => {
      for (const wire of [whole, chunked])
        for (const cut of [1, 40, wire.length - 1])
          await exchange(target.port, wire.subarray(0, cut), socket => socket.destroy())
      expect(await target.send({ ...put('other'), headers: [] })).toMatchObject({ status: 201 })
      expect(await target.store.instance('cut')).toBeUndefined()
    }))

  it('after it was whole is done all the same, once', () =>
    attacking(async target => {
      for (let time = 0; time < 5; time += 1) await exchange(target.port, whole, socket => socket.destroy())
      const again = await target.send({ ...put('cut'), headers: [] })
      expect([200, 201]).toContain(again.status)
      expect(target.backend.done).toEqual(['provision cut'])
    }))
})

describe('a client that is too slow', () => {
  it.each([
    ['in its request line', 'PUT /v2/serv'],
    ['in its headers', 'PUT /v2/service_instances/slow HTTP/1.1\r\nHost: x\r\nX-Broker-API-Version: 2.17\r\n'],
    ['in its body', toWire(put('slow')).toString().slice(0, -1)],
    [
      'in a chunk',
      toWire({ ...put('slow'), chunked: 10 })
        .toString()
        .slice(0, -10),
    ],
  ])('%s: 408, and nothing is created', async (_, text) => {
    const clock = createVirtualClock()
    const backend = createBackend()
    const definition = { services: createServices(backend) }
    const store = createMemoryStore({ clock })
    const broker = await startBroker({
      definition,
      store,
      clock,
      settings: readSettings(),
      authenticator: createOpenAuthenticator(),
    })
    const limits = { headersTimeout: 100, requestTimeout: 100 }
    const server = await listen({ app: broker.app, host: '127.0.0.1', port: 0, limits })
    try {
      const [answer, ...more] = parseAnswers(await exchange(server.port, Buffer.from(text)))
      expect(answer).toMatchObject({ status: 408, body: { error: 'RequestTimeout' } })
      expect(more).toEqual([])
      expect(await store.instance('slow')).toBeUndefined()
    } finally {
      await broker.stop(0)
      await server.close(0)
    }
  })
})

describe('pipelined requests', () => {
  it('are answered in their order, each its own', () =>
    attacking(async target => {
      const requests = Array.from({ length: 30 }, (_, index) => put(`p${index}`))
      const answers = parseAnswers(
        await exchange(target.port, Buffer.concat([...requests, ...requests, last].map(toWire))),
      )
      const statuses = answers.map(({ status }) => status)
      expect(statuses.slice(0, 30)).toEqual(Array(30).fill(201))
      // Repeated while the first one still runs, a request waits for the same operation.
      for (const status of statuses.slice(30, 60)) expect([200, 201]).toContain(status)
      expect(statuses.slice(60)).toEqual([200])
      answers.slice(0, 30).forEach(({ body: answered }, index) => {
        expect(answered).toMatchObject({ dashboard_url: `https://dashboard.example/p${index}` })
      })
      expect(target.backend.things.size).toBe(30)
    }))

  it('with bad ones among them: each is refused for itself', () =>
    attacking(async target => {
      const requests: RawRequest[] = [
        put('a'),
        { ...put('b'), body: '{' },
        { ...put('c'), chunked: 7 },
        { method: 'GET', path: '/v2/nothing', headers },
        last,
      ]
      const received = await exchange(target.port, Buffer.concat(requests.map(toWire)))
      expect(parseAnswers(received).map(({ status }) => status)).toEqual([201, 400, 201, 404, 200])
      expect([...target.backend.things].sort()).toEqual(['instance:a', 'instance:c'])
    }))

  it('a body cannot smuggle a request in', () =>
    attacking(async target => {
      const smuggled = toWire(put('smuggled')).toString()
      const wire = Buffer.concat([toWire({ ...put('a'), body: smuggled }), toWire(last)])
      expect(parseAnswers(await exchange(target.port, wire)).map(({ status }) => status)).toEqual([400, 200])
      const both = toWire({
        ...put('a'),
        headers: [...headers, ['Transfer-Encoding', 'chunked']],
        body: `0\r\n\r\n${smuggled}`,
      })
      expect(parseAnswers(await exchange(target.port, both)).map(({ status }) => status)).toEqual([400])
      expect(await target.store.instance('smuggled')).toBeUndefined()
    }))
})

describe('a method', () => {
  const paths = ['/v2/catalog', instance('i'), `${instance('i')}/last_operation`, binding('i', 'b'), '/healthz']

  it.each(['POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE', 'SEARCH', 'LINK'])('%s that no endpoint has: 405', method =>
    attacking(async target => {
      for (const path of paths) expectRefusal(await target.send({ method, path }), 405, 'MethodNotAllowed')
      expectRefusal(await target.send({ method, path: '/v2/nothing' }), 404)
    }),
  )

  it.each(['BREW', 'put', 'G\u00c4T', '', '<script>', 'GETGETGET', '__proto__'])(
    '%s that HTTP does not have: 400',
    method =>
      attacking(async target => {
        expectRefusal(await target.send({ method, path: instance('i') }), 400)
      }),
  )

  it.each([
    ['PUT', '/v2/catalog', 'GET'],
    ['DELETE', '/v2/catalog', 'GET'],
    ['PUT', `${instance('i')}/last_operation`, 'GET'],
    ['PATCH', binding('i', 'b'), 'PUT, GET, DELETE'],
    ['DELETE', '/healthz', 'GET, HEAD'],
    ['PUT', '/dashboards/i/token', 'GET, HEAD'],
  ])('%s %s of another endpoint: 405, and what it takes', (method, path, allow) =>
    attacking(async target => {
      const answer = await target.send({ method, path, body })
      expectRefusal(answer, 405, 'MethodNotAllowed')
      expect(answer.headers.allow).toBe(allow)
    }),
  )

  it('HEAD is answered without a body', () =>
    attacking(async target => {
      await target.send({ ...put('i'), headers: [] })
      for (const path of [...paths, '/v2/nothing', '/nothing', instance('%zz')]) {
        const answer = await target.send({ method: 'HEAD', path })
        expect(answer.status).toBeLessThan(500)
        expect(answer.text).toBe('')
      }
    }))

  it('CONNECT and an upgrade get no tunnel', () =>
    attacking(async target => {
      const connect = await exchange(target.port, toWire({ method: 'CONNECT', path: 'other.test:443', headers }))
      for (const { status } of parseAnswers(connect)) expect(status).toBeGreaterThanOrEqual(400)
      const upgrade = [...headers, ['Connection', 'Upgrade, close'], ['Upgrade', 'websocket']] as const
      const upgraded = await exchange(target.port, toWire({ method: 'GET', path: '/v2/catalog', headers: upgrade }))
      expect(parseAnswers(upgraded).map(({ status }) => status)).toEqual([200])
    }))
})
