import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import connectApp from 'connect'
import express from 'express'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Broker, createBroker } from '../../src/create-broker.ts'
import { toExpress } from '../../src/http/express.ts'
import { toFastify } from '../../src/http/fastify.ts'
import { listen } from '../../src/http/node.ts'
import { silent } from '../../src/observer.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { serviceOf } from '../engine/world.ts'
import { exchange, parseAnswer } from './sockets.ts'

/** What gives a broker a port. */
const servers: Readonly<Record<string, (broker: Broker) => Promise<number>>> = {
  'the own server': async broker => {
    const server = await listen({ app: broker.handle, host: '127.0.0.1', port: 0 })
    onTestFinished(() => server.close(0))
    return server.port
  },
  'node:http': broker => listening(toExpress(broker)),
  connect: broker => listening(connectApp().use(toExpress(broker))),
  express: broker => listening(express().use(toExpress(broker))),
  fastify: async broker => {
    const app = Fastify()
    await app.register(toFastify(broker))
    onTestFinished(() => app.close())
    await app.listen({ host: '127.0.0.1', port: 0 })
    return (app.server.address() as AddressInfo).port
  },
}

const everybody = {
  scheme: 'test',
  authenticate: () => ({ name: 'me', platform: 'p', roles: ['platform' as const, 'operator' as const] }),
}

describe.each(Object.keys(servers))('the Host of a request to %s', name => {
  it.each([
    ['x/y?z', 400],
    ['x/y', 400],
    ['x?y', 400],
    ['x#y', 400],
    ['x\\y', 400],
    ['user@x', 400],
    ['x:y', 400],
    ['x:99999', 400],
    ['x y', 400],
    ['x, y', 400],
    ['%6c', 400],
    ['[::1', 400],
    ['[::g]', 400],
    ['1.2.3.999', 400],
    ['', 400],
    ['x', 200],
    ['broker.example:8080', 200],
    ['a_b-c.d.:80', 200],
    ['[2001:db8::1]:443', 200],
    ['10.0.0.1', 200],
  ])('%j: %i', async (host, status) => {
    const { ask, seen } = await start(name)
    expect(await ask(`GET /own/a HTTP/1.1\r\nHost: ${host}\r\n`)).toMatchObject({ status })
    expect(seen).toEqual(status === 200 ? [`http://${host.replace(/:80$/, '')}/own/a`] : [])
  })

  it('comes once, even if both are the same', async () => {
    const { ask, seen } = await start(name)
    for (const second of ['a', 'b'])
      expect(await ask(`GET /own/a HTTP/1.1\r\nHost: a\r\nhOsT: ${second}\r\n`)).toMatchObject({ status: 400 })
    expect(seen).toEqual([])
  })

  it('is needed in HTTP/1.1, and not in HTTP/1.0', async () => {
    const { raw, ask, seen } = await start(name)
    expect(await raw('GET /own/a HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/)
    expect(await ask('GET /own/a HTTP/1.0\r\n')).toMatchObject({ status: 200 })
    expect(seen).toEqual(['http://localhost/own/a'])
  })

  it.each([
    ['http://x/own/a', 'http://x/own/a', 200],
    ['HTTP://x:81/own/a?b=/c', 'http://x:81/own/a?b=/c', 200],
    ['http://x?/own/a', undefined, 401],
    ['http://u@x/own/a', undefined, 400],
    ['http:///own/a', undefined, 400],
  ])('is the one of an absolute target: %s', async (target, url, status) => {
    const { ask, seen } = await start(name, {
      authenticator: { scheme: 'none of them', authenticate: () => undefined },
    })
    expect(await ask(`GET ${target} HTTP/1.1\r\nHost: y\r\n`)).toMatchObject({ status })
    expect(seen).toEqual(url === undefined ? [] : [url])
  })

  it('is never the one that a proxy writes elsewhere', async () => {
    const { ask, seen } = await start(name)
    const more = 'X-Forwarded-Host: evil.example\r\nX-Host: evil.example\r\nForwarded: host=evil.example\r\n'
    expect(await ask(`GET /own/a HTTP/1.1\r\nHost: x\r\n${more}`)).toMatchObject({ status: 200 })
    expect(seen).toEqual(['http://x/own/a'])
  })

  it.each(['/own/../v2/catalog', '/own/%2e%2e/x', '/own/.%2E/x', '/own/..\\x'])(
    'does not lead a route out of its path: %s',
    async path => {
      const { ask, seen } = await start(name)
      expect((await ask(`GET ${path} HTTP/1.1\r\nHost: x\r\n`)).status).toBe(404)
      expect(seen).toEqual([])
    },
  )

  describe('where everybody is let in', () => {
    it.each(['localhost', 'LOCALHOST.:8080', '127.0.0.1:1', '127.8.8.8', '[::1]:8080', '[0:0:0:0:0:0:0:1]'])(
      '%s is answered',
      async host => {
        const { ask } = await start(name, { authenticator: 'none' })
        expect(await ask(`GET /v2/catalog HTTP/1.1\r\nHost: ${host}\r\n`)).toMatchObject({ status: 200 })
        expect(await ask(`GET /own/a HTTP/1.1\r\nHost: ${host}\r\n`)).toMatchObject({ status: 200 })
      },
    )

    it.each([
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '10.0.0.1',
      '0.0.0.0',
      '[::2]',
      '128.0.0.1',
    ])('%s is not, whatever it asks for', async host => {
      const { ask, seen } = await start(name, { authenticator: 'none' })
      for (const path of ['/v2/catalog', '/admin/chores', '/own/a', '/dashboards/a/b', '/nothing'])
        expect(await ask(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n`)).toMatchObject({
          status: 421,
          body: { error: 'UnknownHost' },
        })
      expect(await ask(`GET http://${host}/own/a HTTP/1.1\r\nHost: localhost\r\n`)).toMatchObject({ status: 421 })
      expect(await ask(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n`)).toMatchObject({ status: 200 })
      // That was fine: it is not a name that is fine from now on.
      expect(await ask(`GET /own/a HTTP/1.1\r\nHost: ${host}\r\n`)).toMatchObject({ status: 421 })
      expect(seen).toEqual([])
    })
  })
})

describe('names that the operator allows', () => {
  const server = { hosts: ['Broker.Example', '[2001:db8::1]'], publicUrl: 'https://public.example:8443/broker' }

  it.each(['none' as const, everybody])(
    'are answered besides those of this machine, and no others',
    async authenticator => {
      const { ask } = await start('the own server', { authenticator, server })
      for (const host of ['broker.example', 'BROKER.example.:1', '[2001:DB8:0::1]:1', 'public.example', 'localhost'])
        expect(await ask(`GET /v2/catalog HTTP/1.1\r\nHost: ${host}\r\n`)).toMatchObject({ status: 200 })
      for (const host of ['x.broker.example', 'broker.example.x', '[2001:db8::2]'])
        expect(await ask(`GET /v2/catalog HTTP/1.1\r\nHost: ${host}\r\n`)).toMatchObject({ status: 421 })
    },
  )

  it.each(['a/b', 'a:80', 'a b', '2001:db8::1', '[x]', '', '1.2.3.999'])('are names: %j', host => {
    expect(() =>
      createBroker(
        { services: [] },
        { store: 'memory:', authenticator: 'none', settings: { server: { hosts: [host] } } },
      ),
    ).toThrow('settings.server.hosts[0]')
  })
})

describe('the web’s Request', () => {
  it('has its Host in its URL', async () => {
    const { broker } = await start('the own server', { authenticator: 'none' })
    const headers = { 'x-broker-api-version': '2.17' }
    const statusOf = async (url: string, more = {}) =>
      (await broker.fetch(new Request(`${url}/v2/catalog`, { headers: { ...headers, ...more } }))).status
    expect(await statusOf('http://localhost:8080')).toBe(200)
    expect(await statusOf('http://evil.example')).toBe(421)
    expect(await statusOf('http://localhost', { host: 'evil.example' })).toBe(421)
    expect(await statusOf('http://localhost', { host: 'a/b' })).toBe(400)
  })
})

describe.each(Object.keys(servers))('a page of another site that asks %s for a change', name => {
  const own = 'http://broker.example:8080'

  it.each([
    ['Sec-Fetch-Site: cross-site', 403],
    ['Sec-Fetch-Site: same-site', 403],
    [`Sec-Fetch-Site: cross-site\r\nOrigin: ${own}`, 403],
    ['Origin: https://evil.example', 403],
    ['Origin: null', 403],
    ['Origin: http://broker.example', 403],
    ['Origin: http://broker.example:8080.evil.example', 403],
    ['Sec-Fetch-Site: same-origin', 404],
    ['Sec-Fetch-Site: none', 404],
    [`Origin: ${own}`, 404],
    ['Origin: https://broker.example:8080', 404],
    ['Accept: */*', 404],
  ])('%s: %i', async (header, status) => {
    const { ask } = await start(name)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await ask(`${method} /admin/nothing HTTP/1.1\r\nHost: broker.example:8080\r\n${header}\r\n`)
      expect(answer).toMatchObject({ status, body: { error: status === 403 ? 'CrossSite' : 'NotFound' } })
    }
  })

  it('may look, which its own browser keeps it from', async () => {
    const { ask } = await start(name)
    const answer = await ask('GET /admin/chores HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: cross-site\r\n')
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.head).not.toContain('access-control')
  })

  it('is told apart by server.publicUrl where a proxy changes the Host', async () => {
    const { ask } = await start(name, { server: { publicUrl: 'https://public.example/broker' } })
    const post = (origin: string) => ask(`POST /admin/nothing HTTP/1.1\r\nHost: inner\r\nOrigin: ${origin}\r\n`)
    expect((await post('https://public.example')).status).toBe(404)
    expect((await post('https://other.example')).status).toBe(403)
  })
})

async function start(
  name: string,
  {
    authenticator = everybody,
    server,
  }: { authenticator?: Parameters<typeof createBroker>[1]['authenticator']; server?: Settings['server'] } = {},
) {
  const seen: string[] = []
  const broker = createBroker(
    {
      services: [serviceOf({})],
      routes: [
        {
          method: 'GET',
          path: '/own/*',
          handle: async ({ url }) => {
            seen.push(url)
            return Response.json({})
          },
        },
      ],
    },
    { store: 'memory:', observer: silent, authenticator, settings: { server } },
  )
  onTestFinished(() => broker.close())
  const port = await servers[name]?.(broker)
  if (port === undefined) throw new Error(`there is no server ${name}`)
  const raw = (text: string) => exchange(port, text)
  const ask = async (head: string) =>
    parseAnswer(await raw(`${head}Connection: close\r\nX-Broker-API-Version: 2.17\r\n\r\n`))
  return { broker, raw, ask, seen }
}

function listening(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}
