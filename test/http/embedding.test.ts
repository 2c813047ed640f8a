import Fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { toFastify } from '../../src/http/fastify.ts'
import { toFetch } from '../../src/http/fetch.ts'
import type { HttpApp } from '../../src/http/message.ts'
import { createEcho, json } from './sockets.ts'

describe('toFetch', () => {
  it('serves a web Request', async () => {
    const { app } = createEcho()
    const response = await toFetch(app)(
      new Request('https://broker.example/v2/x%2Fy?a=1', { method: 'PUT', body: 'grün', headers: { 'X-A': '1' } }),
    )
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual({ method: 'PUT', url: '/v2/x%2Fy?a=1', encrypted: true, body: 'grün' })
  })

  it('refuses bodies beyond the limit, announced or streamed', async () => {
    const { app, bodies } = createEcho(10)
    const announced = new Request('http://x/', { method: 'PUT', body: 'x', headers: { 'content-length': '11' } })
    expect((await toFetch(app)(announced)).status).toBe(413)
    const streamed = new Request('http://x/', { method: 'PUT', body: streamOf('123456', '789012'), duplex: 'half' })
    expect((await toFetch(app)(streamed)).status).toBe(413)
    expect(bodies).toEqual([])
  })

  it('takes a broken stream for a malformed request', async () => {
    const { app, bodies } = createEcho()
    const body = new ReadableStream({ pull: controller => controller.error(new Error('cut')) })
    const response = await toFetch(app)(new Request('http://x/', { method: 'PUT', body, duplex: 'half' }))
    expect(await response.json()).toMatchObject({ error: 'MalformedRequest' })
    expect(bodies).toEqual([])
  })

  it.each([204, 304])('answers %d without a body', async status => {
    const response = await toFetch(async () => ({ status, headers: {}, body: '' }))(new Request('http://x/'))
    expect(response.status).toBe(status)
    expect(response.body).toBeNull()
  })
})

describe('toFastify', () => {
  it.each([
    ['/broker', '/broker/v2/x%2Fy?a=1', '/v2/x%2Fy?a=1'],
    ['/a/:tenant', '/a/b%20c/v2/catalog', '/v2/catalog'],
    ['/broker', '/broker?a=1', '/?a=1'],
    ['/broker', '/broker', '/'],
    ['/broker', '/broker/', '/'],
    ['', '/v2/catalog', '/v2/catalog'],
    ['/', '/v2/catalog', '/v2/catalog'],
  ])('mounted at %j, %j is %j', async (prefix, requested, seen) => {
    await hosting(prefix, undefined, async (_, url) => {
      expect(await (await fetch(`${url}${requested}`)).json()).toMatchObject({ url: seen, encrypted: false })
    })
  })

  it('gets bodies of every type raw, and leaves the host’s parsing alone', async () => {
    await hosting('/broker', undefined, async (_, url) => {
      for (const type of ['application/json', 'application/json; charset=utf-8', 'text/plain', 'application/x-odd']) {
        const init = { method: 'PUT', body: '{"not json', headers: { 'content-type': type } }
        expect(await (await fetch(`${url}/broker/v2/x`, init)).json()).toMatchObject({ body: '{"not json' })
      }
      const init = { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } }
      expect(await (await fetch(`${url}/own`, init)).json()).toEqual({ parsed: { a: 1 } })
      expect((await fetch(`${url}/own`, { ...init, body: '{"a' })).status).toBe(400)
    })
  })

  it.each(['GET', 'PATCH', 'DELETE', 'OPTIONS'])('passes %s on', async method => {
    await hosting('/broker', undefined, async (_, url) => {
      expect(await (await fetch(`${url}/broker/v2/x`, { method })).json()).toMatchObject({ method, url: '/v2/x' })
    })
  })

  it('enforces the limit', async () => {
    await hosting('/broker', 10, async (_, url) => {
      const response = await fetch(`${url}/broker/v2/x`, { method: 'PUT', body: 'x'.repeat(11) })
      expect(response.status).toBe(413)
      expect(await response.json()).toMatchObject({ error: 'PayloadTooLarge' })
      expect((await fetch(`${url}/broker/v2/x`, { method: 'PUT', body: 'x'.repeat(10) })).status).toBe(200)
      const body = streamOf('123456', '789012')
      expect((await fetch(`${url}/broker/v2/x`, { method: 'PUT', body, duplex: 'half' })).status).toBe(413)
    })
  })

  it('sends bytes and headers as they are', async () => {
    const server = Fastify()
    const bytes = new Uint8Array([0, 255, 10])
    const answer = { status: 202, headers: { 'x-a': '1', 'content-type': 'image/png' }, body: bytes }
    await server.register(toFastify(brokerOf(async () => answer)))
    const response = await server.inject('/')
    expect(response.statusCode).toBe(202)
    expect(response.headers).toMatchObject({ 'x-a': '1', 'content-type': 'image/png' })
    expect(new Uint8Array(response.rawPayload)).toEqual(bytes)
    await server.close()
  })

  it('sends an empty JSON object once', async () => {
    const server = Fastify()
    await server.register(toFastify(brokerOf(async () => json(200, {}))))
    expect((await server.inject('/v2/x')).body).toBe('{}')
    await server.close()
  })
})

async function hosting(
  prefix: string,
  bodyLimit: number | undefined,
  use: (server: FastifyInstance, url: string) => Promise<void>,
): Promise<void> {
  const server = Fastify()
  server.post('/own', async request => ({ parsed: request.body }))
  await server.register(toFastify(brokerOf(createEcho(bodyLimit).app)), { prefix })
  try {
    await use(server, await server.listen({ host: '127.0.0.1', port: 0 }))
  } finally {
    await server.close()
  }
}

function brokerOf(handle: HttpApp) {
  return { handle, start: async () => {}, close: async () => {} }
}

function streamOf(...chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk))
      controller.close()
    },
  })
}
