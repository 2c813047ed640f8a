import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Route } from '../../src/author/broker-definition.ts'
import { toFetch } from '../../src/http/fetch.ts'
import { listen } from '../../src/http/node.ts'
import { silent } from '../../src/observer.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'
import { deferred } from './sockets.ts'

const mega = 1024 * 1024

describe('an author’s own route', () => {
  it('decides about its callers before a byte of the body is read', async () => {
    const { client } = await start(() => new Response('who are you?', { status: 401 }))
    const socket = client()
    socket.write(`POST /own HTTP/1.1\r\nhost: a\r\ncontent-length: ${mega}\r\n\r\n`)
    expect(await heard(socket, 'who are you?')).toContain('HTTP/1.1 401')
  })

  it('does not ask for a body that it does not read', async () => {
    const { client } = await start(() => new Response('no', { status: 403 }))
    const socket = client()
    socket.write('POST /own HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n')
    expect(await heard(socket, '\r\n\r\nno')).not.toContain('100 Continue')
  })

  it('reads the body piece by piece', async () => {
    const first = deferred()
    const { client } = await start(async ({ body }) => {
      const pieces: string[] = []
      for await (const piece of body ?? []) {
        pieces.push(Buffer.from(piece).toString())
        first.resolve()
      }
      return Response.json(pieces)
    })
    const socket = client()
    socket.write('POST /own HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nfirst')
    await first.promise
    socket.write('later')
    expect(await heard(socket, ']')).toContain('["first","later"]')
  })

  it.each([
    ['the limit of the server', undefined, mega],
    ['a limit of its own', 10, 10],
    ['a longer one', 3 * mega, 3 * mega],
  ])('has %s, whatever the client announces', async (_, bodyLimit, limit) => {
    const { url, fetchApp } = await start(
      async request => new Response(String((await request.text()).length)),
      bodyLimit,
    )
    for (const ask of [fetch, (target: string, init: RequestInit) => fetchApp(new Request(target, init))]) {
      const post = (body: () => RequestInit['body']) =>
        ask(`${url}/own`, { method: 'POST', body: body(), duplex: 'half' })
      expect(await (await post(() => 'x'.repeat(limit))).text()).toBe(String(limit))
      expect((await post(() => 'x'.repeat(limit + 1))).status).toBe(413)
      const chunked = () => ReadableStream.from([Buffer.alloc(limit, 'x'), Buffer.from('x')])
      expect((await post(chunked)).status).toBe(413)
    }
  })

  it.each([
    ['reads a part of a body', async (request: Request) => void (await request.body?.getReader().read())],
    ['reads none of it', async () => {}],
    ['leaves a read behind', async (request: Request) => void request.text().catch(() => {})],
  ])('that %s leaves the connection usable', async (_, look) => {
    let asked = 0
    const { client } = await start(async request => {
      await look(request)
      return new Response(`answer ${++asked}.`)
    })
    const socket = client()
    const sent = 'x'.repeat(20_000)
    const head = `POST /own HTTP/1.1\r\nhost: a\r\ncontent-length: ${2 * sent.length}\r\n\r\n${sent}`
    socket.write(head)
    await heard(socket, 'answer 1.')
    socket.write(sent)
    socket.write(head)
    await heard(socket, 'answer 2.')
  })

  it('hears of a body that ends too early', async () => {
    const failed = deferred<unknown>()
    const { client } = await start(async request => {
      await request.text().catch(failed.resolve)
      return new Response()
    })
    const socket = client()
    socket.write('POST /own HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nfirst', () => socket.destroy())
    expect(await failed.promise).toMatchObject({ message: expect.stringContaining('before the whole body') })
  })
})

async function start(handle: Route['handle'], bodyLimit?: number) {
  const broker = await startTestBroker({
    services: [serviceOf({})],
    observer: silent,
    routes: [{ method: 'POST', path: '/own', bodyLimit, handle }],
  })
  onTestFinished(() => broker.stop())
  const { url, port, close } = await listen({ app: broker.handle, host: '127.0.0.1', port: 0 })
  onTestFinished(() => close(0))
  const client = () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    return socket
  }
  return { url, client, fetchApp: toFetch(broker.handle) }
}

/** All that came until now, once it ends in the text. */
function heard(socket: Socket, text: string): Promise<string> {
  let received = ''
  return new Promise((resolve, reject) => {
    const onData = (data: Buffer) => {
      received += data
      if (!received.endsWith(text)) return
      socket.off('data', onData)
      resolve(received)
    }
    socket.on('data', onData).once('close', () => reject(new Error(`it was closed after ${received}`)))
  })
}
