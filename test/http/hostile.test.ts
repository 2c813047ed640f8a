import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createEcho, deferred, exchange, json, parseAnswer, serving } from './sockets.ts'

const head = 'HTTP/1.1\r\nHost: x\r\n'

describe('requests that were sent one behind the other', () => {
  it('are all answered, in order, before the connection ends at a malformed one', async () => {
    const first = deferred()
    const answer = async (url: string) => {
      if (url === '/slow') await first.promise
      return json(200, { url })
    }
    await serving(
      request => answer(request.url),
      async ({ port }) => {
        const requests = ['/slow', '/quick', '/last'].map(path => `GET ${path} ${head}\r\n`).join('')
        const text = await exchange(port, `${requests}nonsense\r\n\r\n`, () => setImmediate(() => first.resolve()))
        expect(text.match(/"url":"[^"]+"/g)).toEqual(['"url":"/slow"', '"url":"/quick"', '"url":"/last"'])
        expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200'])
      },
    )
  })
})

describe('a body that is too large', () => {
  it('is refused by its announced length, before it is sent', async () => {
    const { app, bodies } = createEcho(1000)
    await serving(app, async ({ port }) => {
      const answer = parseAnswer(await exchange(port, `PUT / ${head}Content-Length: 99999999\r\n\r\n`, end))
      expect(answer).toMatchObject({ status: 413, body: { error: 'PayloadTooLarge' } })
      expect(answer.head).toContain('connection: close')
      expect(bodies).toEqual([])
    })
  })

  it('is refused while it streams, and the client that goes on sending sees the answer', async () => {
    const { app, bodies } = createEcho(1000)
    await serving(app, async ({ port }) => {
      const chunk = `2000\r\n${'x'.repeat(0x2000)}\r\n`
      const text = await exchange(port, `PUT / ${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`, socket => {
        for (let count = 0; count < 100; count += 1) socket.write(chunk)
        socket.end('0\r\n\r\n')
      })
      expect(parseAnswer(text)).toMatchObject({ status: 413, body: { error: 'PayloadTooLarge' } })
      expect(bodies).toEqual([])
    })
  })

  it('of exactly the limit is taken', async () => {
    const { app } = createEcho(1000)
    await serving(app, async ({ url }) => {
      expect((await fetch(url, { method: 'PUT', body: 'x'.repeat(1000) })).status).toBe(200)
      expect((await fetch(url, { method: 'PUT', body: 'x'.repeat(1001) })).status).toBe(413)
    })
  })

  it('that nobody reads does not keep the connection', async () => {
    await serving(
      async () => json(401, { error: 'Unauthorized' }),
      async ({ port }) => {
        const text = await exchange(port, `PUT / ${head}Content-Length: 9999999\r\n\r\n`, end)
        expect(parseAnswer(text)).toMatchObject({ status: 401 })
      },
    )
  })
})

describe('a request that is cut in the middle', () => {
  it.each([
    ['of a sized body', 'Content-Length: 100\r\n\r\n{"half":'],
    ['of a chunk', 'Transfer-Encoding: chunked\r\n\r\n100\r\n{"half":'],
    ['between chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n'],
  ])('%s never reaches the application as a whole', async (_, rest) => {
    const [seen, started] = [deferred<string>(), deferred()]
    const app: Parameters<typeof serving>[0] = async request => {
      started.resolve()
      await request.body(1000).then(
        body => seen.resolve(`whole: ${body}`),
        error => seen.resolve(error.code),
      )
      return json(200, {})
    }
    await serving(app, async ({ port }) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(`PUT / ${head}${rest}`)
      await started.promise
      socket.destroy()
      expect(await seen.promise).toBe('MalformedRequest')
    })
  })

  it('and half closed is answered 400', async () => {
    const { app, bodies } = createEcho()
    await serving(app, async ({ port }) => {
      const text = await exchange(port, `PUT / ${head}Content-Length: 100\r\n\r\n{"half":`, end)
      expect(parseAnswer(text)).toMatchObject({ status: 400, body: { error: 'MalformedRequest' } })
      expect(bodies).toEqual([])
    })
  })
})

describe('what is not HTTP', () => {
  it.each([
    ['noise', '\u0016\u0003\u0001 what is this?\r\n\r\n'],
    ['a header without a colon', `GET / ${head}nonsense\r\n\r\n`],
    ['a space before the colon', `GET / ${head}Content-Length : 5\r\n\r\nhello`],
    ['two lengths', `PUT / ${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`],
    ['length and chunks', `PUT / ${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a negative length', `PUT / ${head}Content-Length: -1\r\n\r\n`],
    ['a broken chunk', `PUT / ${head}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`],
    ['HTTP/2 without a warning', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s: 400 with an object', async (_, text) => {
    const { app, bodies } = createEcho()
    await serving(app, async ({ port }) => {
      const answer = parseAnswer(await exchange(port, text, end))
      expect(answer).toMatchObject({ status: 400, body: { error: 'MalformedRequest' } })
      expect(answer.head).toContain('content-type: application/json')
      expect(bodies).toEqual([])
    })
  })

  it('does not take the answer from the good request before it on the same connection', async () => {
    const app = async () => {
      // By then the parser has seen the rest of what came in one piece.
      await new Promise(setImmediate)
      return json(202, { operation: 'first' })
    }
    await serving(app, async ({ port }) => {
      const text = await exchange(port, `PUT / ${head}Content-Length: 2\r\n\r\n{}nonsense\r\n\r\n`)
      expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
      expect(parseAnswer(text)).toMatchObject({ status: 202, body: { operation: 'first' } })
    })
  })
})

describe('too much and too slow', () => {
  it('headers beyond the limit: 431', async () => {
    const { app, bodies } = createEcho()
    await serving(
      app,
      async ({ port }) => {
        const answer = parseAnswer(await exchange(port, `GET / ${head}X-A: ${'a'.repeat(5000)}\r\n\r\n`, end))
        expect(answer).toMatchObject({ status: 431, body: { error: 'HeadersTooLarge' } })
        const many = Array.from({ length: 3000 }, (_, number) => `h${number}: 1\r\n`).join('')
        expect(parseAnswer(await exchange(port, `GET / ${head}${many}\r\n`, end)).status).toBe(431)
        expect(bodies).toEqual([])
      },
      { limits: { headerLimit: 4096 } },
    )
  })

  it('many small headers within the limit are all there', async () => {
    let last: string | undefined
    const many = Array.from({ length: 2500 }, (_, number) => `h${number}: ${number}\r\n`).join('')
    await serving(
      async ({ headers }) => {
        last = headers.h2499
        return json(200, {})
      },
      async ({ port }) => {
        await exchange(port, `GET / ${head}Connection: close\r\n${many}\r\n`)
        expect(last).toBe('2499')
      },
      { limits: { headerLimit: 65_536 } },
    )
  })

  it.each([
    ['headers', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['a body', `PUT / ${head}Content-Length: 10\r\n\r\nhalf`],
    ['nothing at all', ''],
  ])('a client that stops after %s: 408', async (_, text) => {
    const { app, bodies } = createEcho()
    await serving(
      app,
      async ({ port }) => {
        const answer = parseAnswer(await exchange(port, text))
        expect(answer).toMatchObject({ status: 408, body: { error: 'RequestTimeout' } })
        expect(bodies).toEqual([])
      },
      { limits: { headersTimeout: 100, requestTimeout: 100 } },
    )
  })
})

function end(socket: { end(): void }): void {
  socket.end()
}
