import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { HttpRequest } from '../../src/http/message.ts'
import { ListenError, listen } from '../../src/http/node.ts'
import type { Observer } from '../../src/observer.ts'
import { createEcho, deferred, exchange, json, parseAnswer, serving } from './sockets.ts'

const head = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'

describe('a connection', () => {
  it('too many is closed at once, and the others go on', async () => {
    const { app } = createEcho()
    await serving(
      app,
      async ({ port }) => {
        const first = connect(port, '127.0.0.1')
        await once(first, 'connect')
        const second = connect(port, '127.0.0.1')
        second.on('error', () => {})
        await once(second, 'close')
        first.write(`GET / ${head}\r\n`)
        const [answer] = await once(first, 'data')
        expect(String(answer)).toContain('200 OK')
      },
      { limits: { maxConnections: 1 } },
    )
  })
})

describe('a request', () => {
  it('reaches the application with method, raw URL, headers and body', async () => {
    let seen: HttpRequest | undefined
    const app = async (request: HttpRequest) => {
      seen = request
      return json(201, { length: (await request.body(100)).length })
    }
    await serving(app, async ({ url }) => {
      const response = await fetch(`${url}/v2/a%2Fb?x=%20`, { method: 'PUT', body: 'grün', headers: { 'X-A': '1' } })
      expect(response.status).toBe(201)
      expect(response.headers.get('content-length')).toBe('12')
      expect(await response.json()).toEqual({ length: 5 })
      expect(seen).toMatchObject({ method: 'PUT', url: '/v2/a%2Fb?x=%20', encrypted: false })
      expect(seen?.headers['x-a']).toBe('1')
    })
  })

  it('that names a header twice gives its values joined, credentials included', async () => {
    let headers: HttpRequest['headers'] = {}
    const app = async (request: HttpRequest) => {
      headers = request.headers
      return json(200, {})
    }
    await serving(app, async ({ port }) => {
      const fields = 'X-A: 1\r\nx-a: 2\r\nAuthorization: a\r\nAuthorization: b\r\nSet-Cookie: c\r\nSet-Cookie: d\r\n'
      await exchange(port, `GET / ${head}${fields}\r\n`)
      expect(headers).toMatchObject({ 'x-a': '1, 2', authorization: 'a, b', 'set-cookie': 'c, d' })
    })
  })

  it('in absolute form arrives as a path', async () => {
    const { app } = createEcho()
    await serving(app, async ({ port }) => {
      expect(parseAnswer(await exchange(port, `GET http://x/v2/catalog?a=1 ${head}\r\n`)).body).toMatchObject({
        url: '/v2/catalog?a=1',
      })
    })
  })

  it('without a body reads as an empty one', async () => {
    const { app } = createEcho()
    await serving(app, async ({ url }) => {
      expect(await (await fetch(url)).json()).toMatchObject({ body: '' })
    })
  })

  it.each([
    ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two of them', `GET / ${head}Host: y\r\n\r\n`],
  ])('with %s is refused', async (_, text) => {
    const { app, bodies } = createEcho()
    await serving(app, async ({ port }) => {
      const answer = parseAnswer(await exchange(port, text))
      expect(answer).toMatchObject({ status: 400, body: { error: 'MalformedRequest' } })
      expect(bodies).toEqual([])
    })
  })

  it('that expects 100-continue is told to go on only when its body is wanted', async () => {
    const { app } = createEcho(5)
    await serving(app, async ({ port }) => {
      const expecting = (length: number) => `PUT / ${head}Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
      expect(await exchange(port, `${expecting(5)}hello`)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/)
      const refused = await exchange(port, expecting(6), socket => socket.end())
      expect(refused).toMatch(/^HTTP\/1.1 413 /)
      const unknown = await exchange(port, `GET / ${head}Expect: wonders\r\n\r\n`)
      expect(parseAnswer(unknown)).toMatchObject({ status: 417, body: { error: 'MalformedRequest' } })
    })
  })
})

describe('pipelined requests', () => {
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

  it('however many on one connection, are answered, and leave no listener on it', async () => {
    const { app } = createEcho()
    await serving(app, async ({ port }) => {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8')
      let received = ''
      socket.on('data', data => {
        received += data
      })
      for (let round = 1; round <= 12; round++) {
        socket.write(get.repeat(round))
        while (received.split('HTTP/1.1 200').length - 1 < (round * (round + 1)) / 2) await once(socket, 'data')
      }
      socket.destroy()
    })
  })

  it('whose connection breaks are not waited for', async () => {
    const first = deferred()
    const [reached, all] = [deferred(), deferred()]
    let requests = 0
    const app = async () => {
      const place = ++requests
      if (place === 12) all.resolve()
      if (place === 1) await first.promise
      else await reached.promise
      return json(200, {})
    }
    const server = await listen({ app, host: '127.0.0.1', port: 0 })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(get.repeat(12))
    await all.promise
    reached.resolve()
    await new Promise(resolve => setImmediate(resolve))
    socket.destroy()
    first.resolve()
    await server.close(2_000_000)
  })
})

describe('an answer', () => {
  it('to HEAD has the length of the body that is left out, and 204 has none', async () => {
    const app = async ({ method }: HttpRequest) =>
      method === 'HEAD' ? json(200, { a: 1 }) : { status: 204, headers: {}, body: '' }
    await serving(app, async ({ port }) => {
      expect(await exchange(port, `HEAD / ${head}\r\n`)).toMatch(/content-length: 7\r\n[^{]*$/)
      expect(await exchange(port, `OPTIONS / ${head}\r\n`)).not.toMatch(/content-length|transfer-encoding/i)
    })
  })

  it('of bytes arrives as it is', async () => {
    const bytes = new Uint8Array([0, 255, 13, 10])
    await serving(
      async () => ({ status: 200, headers: {}, body: bytes }),
      async ({ url }) => {
        expect(new Uint8Array(await (await fetch(url)).arrayBuffer())).toEqual(bytes)
      },
    )
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('canary')
      },
    ],
    ['rejects', () => Promise.reject(new Error('canary'))],
    ['answers with a header that cannot be sent', async () => ({ status: 200, headers: { 'x-a': 'a\nb' }, body: '' })],
  ])('stands in for an application that %s: 500 and no detail', async (_, app) => {
    const reported: unknown[] = []
    const observer: Observer = { 'request.failed': event => reported.push(event) }
    await serving(
      app,
      async ({ url }) => {
        const response = await fetch(url)
        const text = await response.text()
        expect(response.status).toBe(500)
        expect(JSON.parse(text)).toMatchObject({ error: 'InternalError' })
        expect(text).not.toContain('canary')
        expect(reported).toHaveLength(1)
      },
      { observer },
    )
  })
})

describe('a listener that throws', () => {
  it('does not harm the server', async () => {
    const broken = () => {
      throw new Error('broken')
    }
    await serving(
      createEcho().app,
      async ({ url, port }) => {
        expect(await exchange(port, 'nonsense\r\n\r\n')).toContain('400 Bad Request')
        expect((await fetch(url)).status).toBe(200)
      },
      { observer: { 'request.ended': broken } },
    )
  })
})

describe('close', () => {
  it('that is announced: connections are still taken, and every answer ends its own', async () => {
    const { app } = createEcho()
    await serving(app, async server => {
      expect((await fetch(server.url)).headers.get('connection')).toBe('keep-alive')
      server.announceClose()
      for (let again = 0; again < 2; again += 1) {
        const { status, headers } = await fetch(server.url)
        expect([status, headers.get('connection')]).toEqual([200, 'close'])
      }
    })
  })

  it('lets a running request end, says close, and takes no new connection', async () => {
    const [arrived, gate] = [deferred(), deferred()]
    const server = await listen({
      host: '127.0.0.1',
      port: 0,
      app: async () => {
        arrived.resolve()
        await gate.promise
        return json(202, {})
      },
    })
    const response = fetch(server.url)
    await arrived.promise
    const closed = server.close(60_000)
    await expect(fetch(server.url)).rejects.toThrow()
    gate.resolve()
    expect((await response).status).toBe(202)
    expect((await response).headers.get('connection')).toBe('close')
    await closed
  })

  it('cuts idle and silent connections at once', async () => {
    const { app } = createEcho()
    const server = await listen({ app, host: '127.0.0.1', port: 0 })
    const agent = new Agent({ keepAlive: true })
    const [used] = await once(httpRequest(server.url, { agent }).end(), 'response')
    used.resume()
    await once(used, 'end')
    const silent = connect(server.port, '127.0.0.1')
    await once(silent, 'connect')
    await fetch(server.url)
    await server.close(600_000)
    agent.destroy()
    silent.destroy()
    await expect(fetch(server.url)).rejects.toThrow()
  })

  it('cuts what is left after the grace, and may be called twice', async () => {
    const arrived = deferred()
    const server = await listen({
      host: '127.0.0.1',
      port: 0,
      app: () => {
        arrived.resolve()
        return new Promise(() => {})
      },
    })
    const response = fetch(server.url).catch(() => 'cut')
    await arrived.promise
    await Promise.all([server.close(10), server.close(10)])
    expect(await response).toBe('cut')
  })
})

describe('listen', () => {
  it('says that a port is in use, and how to choose another', async () => {
    const { app } = createEcho()
    await serving(app, async ({ port }) => {
      const second = listen({ app, host: '127.0.0.1', port })
      await expect(second).rejects.toThrow(ListenError)
      await expect(second).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: the port is in use`)
      await expect(second).rejects.toThrow('--port')
    })
  })

  it.each(['203.0.113.7', 'no-such-host.invalid'])('says that %s is not an address of this machine', async host => {
    const { app } = createEcho()
    await expect(listen({ app, host, port: 0 })).rejects.toThrow(/--host or server.host/)
  })
})
