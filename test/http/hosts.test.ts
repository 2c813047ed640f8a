import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import connect from 'connect'
import express, { type Express } from 'express'
import Fastify from 'fastify'
import { beforeAll, describe, expect, it } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { systemClock } from '../../src/clock.ts'
import { type Broker, createBroker } from '../../src/create-broker.ts'
import { toExpress } from '../../src/http/express.ts'
import { toFastify } from '../../src/http/fastify.ts'
import { silent } from '../../src/observer.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store.ts'
import { serviceOf } from '../engine/world.ts'
import { deferred, exchange } from './sockets.ts'

const express4: typeof express = createRequire(import.meta.url)('express4')

const ids = { service_id: 'service', plan_id: 'plan', organization_guid: 'o', space_guid: 's' }

/** Every host mounts the broker at /broker, as its own documentation shows. */
const hosts: Readonly<Record<string, (broker: Broker) => Promise<{ url: string; close(): Promise<unknown> }>>> = {
  'node:http': broker => {
    const handle = toExpress(broker)
    return listening((request, response) => {
      request.url = request.url?.replace(/^\/broker/, '') || '/'
      handle(request, response)
    })
  },
  connect: broker => listening(connect().use('/broker', toExpress(broker))),
  'express 4': broker => listening(express4().use('/broker', toExpress(broker))),
  'express 4 behind body parsers': broker =>
    listening(withParsers(express4(), express4).use('/broker', toExpress(broker))),
  'express 5': broker => listening(express().use('/broker', toExpress(broker))),
  'express 5 behind body parsers': broker =>
    listening(withParsers(express(), express).use('/broker', toExpress(broker))),
  'express 5 behind a parser of bytes': broker =>
    listening(
      express()
        .use(express.raw({ type: () => true, limit: '2mb' }))
        .use('/broker', toExpress(broker)),
    ),
  'express 5 behind a parser of text': broker =>
    listening(
      express()
        .use(express.text({ type: () => true, limit: '2mb' }))
        .use('/broker', toExpress(broker)),
    ),
  'express 5, in a router': broker => {
    const router = express.Router().use('/broker', toExpress(broker))
    return listening(express().use(router))
  },
  fastify: async broker => {
    const app = Fastify()
    await app.register(toFastify(broker), { prefix: '/broker' })
    return { url: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() }
  },
}

const requests: Readonly<
  Record<string, [method: string, path: string, body?: string, headers?: Record<string, string>]>
> = {
  catalog: ['GET', '/v2/catalog'],
  'catalog, HEAD': ['HEAD', '/v2/catalog'],
  'another method': ['POST', '/v2/catalog', '{}'],
  'no such path': ['GET', '/v3/catalog'],
  'no such path, the mount itself': ['GET', ''],
  'no such path, with a query': ['GET', '?a=1'],
  health: ['GET', '/healthz'],
  'no credentials': ['GET', '/v2/catalog', undefined, { authorization: '' }],
  'no version': ['GET', '/v2/catalog', undefined, { 'x-broker-api-version': '' }],
  'the name of the request': ['GET', '/v2/catalog', undefined, { 'x-broker-api-request-identity': 'r-1' }],
  'the name of a refused request': [
    'GET',
    '/v2/catalog',
    undefined,
    { 'x-broker-api-request-identity': 'gr\u00fcn', authorization: '' },
  ],
  provision: ['PUT', '/v2/service_instances/a%2Fb', body({ parameters: { text: 'grün \u2028 "' } })],
  'provision, no content type': ['PUT', '/v2/service_instances/c', body({}), { 'content-type': '' }],
  'provision, chunked': ['PUT', '/v2/service_instances/d', body({}), { 'transfer-encoding': 'chunked' }],
  'provision, without a body': ['PUT', '/v2/service_instances/e'],
  'provision, a form': [
    'PUT',
    '/v2/service_instances/f',
    'a=1',
    { 'content-type': 'application/x-www-form-urlencoded' },
  ],
  'provision, the wrong parameters': ['PUT', '/v2/service_instances/g', body({ parameters: { size: 'x' } })],
  'provision, a number that is too large': [
    'PUT',
    '/v2/service_instances/j',
    body({ parameters: { n: 'N' } }).replace('"N"', '[1e400]'),
  ],
  'provision, too large': ['PUT', '/v2/service_instances/h', body({ parameters: { text: 'x'.repeat(1_100_000) } })],
  'provision, just not too large': [
    'PUT',
    '/v2/service_instances/i',
    body({ parameters: { text: 'x'.repeat(1_000_000) } }),
  ],
  'an author’s own route': ['POST', '/own', '{"a":1}', { 'content-type': 'application/json' }],
  'an author’s own route that fails': ['GET', '/broken'],
}

describe.each(Object.keys(hosts))('%s', name => {
  let answers: Record<string, unknown> = {}
  let expected: Record<string, unknown> = {}
  beforeAll(async () => {
    ;[expected, answers] = [await ask('node:http'), await ask(name)]
  })
  it.each(Object.keys(requests))('answers as every other host does: %s', request => {
    expect(answers[request]).toEqual(expected[request])
  })
})

describe.each(Object.keys(hosts).filter(name => name !== 'node:http'))('mounted in %s', name => {
  it('makes URLs that lead back through the mount', async () => {
    const { status, body } = await on(name, ({ url }) =>
      send(`${url}/broker`, 'PUT', '/v2/service_instances/later?accepts_incomplete=true', bodyFor('dash')),
    )
    expect(status).toBe(202)
    expect(JSON.parse(body).dashboard_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/broker\/dashboards\//)
  })
})

describe.each(Object.keys(hosts))('cut connections in %s', name => {
  it('a request whose client has gone costs nothing, and the next one is answered', async () => {
    await on(name, async ({ url, gate }) => {
      const port = Number(new URL(url).port)
      const head = `Host: x\r\nAuthorization: ${authorization}\r\nX-Broker-API-Version: 2.17\r\n`
      // In the middle of its body, and while it is being answered.
      await exchange(
        port,
        `PUT /broker/v2/service_instances/cut HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
        socket => socket.resetAndDestroy(),
      ).catch(() => {})
      await exchange(port, `GET /broker/slow HTTP/1.1\r\n${head}\r\n`, socket => socket.resetAndDestroy()).catch(
        () => {},
      )
      gate.resolve()
      expect((await send(`${url}/broker`, 'GET', '/v2/catalog')).status).toBe(200)
    })
  })
})

describe('toFastify', () => {
  it('starts and closes the broker with the application', async () => {
    const said: string[] = []
    const app = Fastify()
    const broker = {
      handle: async () => ({ status: 200, headers: {}, body: '' }),
      start: async () => void said.push('start'),
      close: async () => void said.push('close'),
    }
    await app.register(toFastify(broker))
    await app.ready()
    expect(said).toEqual(['start'])
    await app.close()
    expect(said).toEqual(['start', 'close'])
  })

  it('keeps an application from starting with a broker that cannot', async () => {
    const broker = createBroker({ services: [serviceOf({ callTimeout: 'soon' as never })] }, open())
    await expect(Fastify().register(toFastify(broker)).ready()).rejects.toThrow('soon')
  })
})

describe('toExpress', () => {
  it('tells next of an answer that cannot be sent', async () => {
    const broker = {
      handle: async () => ({ status: 200, headers: { 'x-a': 'line\nbreak' }, body: '' }),
      start: async () => {},
      close: async () => {},
    }
    const app = express().use(toExpress(broker))
    app.use(((error, _request, response, _next) => {
      response.status(599).end(String(error.code))
    }) satisfies express.ErrorRequestHandler)
    const { url, close } = await listening(app)
    expect(await send(url, 'GET', '/')).toMatchObject({ status: 599, body: 'ERR_INVALID_CHAR' })
    await close()
  })

  it('says so where the body was read and not kept', async () => {
    await onApp(
      broker =>
        connect()
          .use((request, _response, next) => request.resume().on('end', next))
          .use(toExpress(broker)),
      async url => {
        const { status, body: text } = await send(url, 'PUT', '/v2/service_instances/x', body({}))
        expect({ status, ...JSON.parse(text) }).toEqual({
          status: 400,
          error: 'MalformedRequest',
          description: 'The body was read before it reached the broker.',
        })
      },
    )
  })
})

function body(more: object): string {
  return JSON.stringify({ ...ids, ...more })
}

function bodyFor(service: string): string {
  return body({ service_id: service, plan_id: `${service}-plan` })
}

const authorization = `Basic ${Buffer.from('platform:secret').toString('base64')}`

function open(store: string | Store = 'memory:') {
  return {
    store,
    observer: silent,
    authenticator: createBasicAuthenticator([
      { username: 'platform', password: 'secret', platform: 'p', roles: ['platform' as const] },
    ]),
  }
}

async function on<Result>(
  name: string,
  use: (host: { url: string; gate: { resolve(): void } }) => Promise<Result>,
): Promise<Result> {
  const gate = deferred()
  const broker = createBroker(
    {
      services: [
        serviceOf({ parameters: { type: 'object', properties: { size: { type: 'integer' } } } }),
        {
          ...serviceOf({ dashboard: 'redirect' }),
          id: 'dash',
          name: 'dash',
          plans: [{ id: 'dash-plan', name: 'plan', description: 'The plan' }],
          provision: async () => ({ dashboardUrl: 'https://dash.example.com' }),
        },
      ],
      routes: [
        {
          method: 'POST',
          path: '/own',
          handle: async request => Response.json({ path: new URL(request.url).pathname, body: await request.json() }),
        },
        { method: 'GET', path: '/broken', handle: () => Promise.reject(new Error('broken')) },
        { method: 'GET', path: '/slow', handle: () => gate.promise.then(() => new Response('late')) },
      ],
    },
    open(createMemoryStore({ clock: systemClock })),
  )
  const host = await hosts[name]?.(broker)
  if (host === undefined) throw new Error(`there is no host ${name}`)
  try {
    return await use({ url: host.url, gate })
  } finally {
    gate.resolve()
    await host.close()
    await broker.close()
  }
}

async function onApp(toApp: (broker: Broker) => RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const broker = createBroker({ services: [serviceOf({})] }, open())
  const { url, close } = await listening(toApp(broker))
  try {
    await use(url)
  } finally {
    await close()
    await broker.close()
  }
}

/** Every answer of a host, without what the host adds and what differs from run to run. */
function ask(name: string): Promise<Record<string, unknown>> {
  return on(name, async ({ url }) => {
    const answers: Record<string, unknown> = {}
    for (const [title, [method, path, text, headers]] of Object.entries(requests)) {
      const answer = await send(`${url}/broker`, method, path, text, headers)
      answers[title] = { ...answer, body: answer.body.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>') }
    }
    return answers
  })
}

const own = [
  'content-type',
  'content-length',
  'allow',
  'etag',
  'retry-after',
  'www-authenticate',
  'x-broker-api-request-identity',
]

function send(url: string, method: string, path: string, text?: string, given: Record<string, string> = {}) {
  const all = { authorization, 'x-broker-api-version': '2.17', 'content-type': 'application/json', ...given }
  const headers: Record<string, string> = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  if (text === undefined) delete headers['content-type']
  else if (headers['transfer-encoding'] === undefined) headers['content-length'] = String(Buffer.byteLength(text))
  return new Promise<{ status: number; headers: object; body: string }>((resolve, reject) => {
    const { origin, pathname } = new URL(url)
    const sent = httpRequest(origin, { method, path: pathname.replace(/\/$/, '') + path || '/', headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(own.map(header => [header, response.headers[header]])),
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

function withParsers(app: Express, { json, urlencoded }: typeof express): Express {
  return app.use(json({ limit: '2mb' }), urlencoded({ extended: false }))
}

function listening(listener: RequestListener): Promise<{ url: string; close(): Promise<unknown> }> {
  const server: Server = createServer(listener)
  return new Promise(resolve =>
    server.listen(0, '127.0.0.1', () =>
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        close: () => {
          server.closeAllConnections()
          return new Promise(closed => server.close(closed))
        },
      }),
    ),
  )
}
