import { connect, type Socket } from 'node:net'
import type { HttpApp } from '../../src/http/message.ts'
import { type ListenOptions, listen, type RunningServer } from '../../src/http/node.ts'
import { BrokerError, toErrorBody } from '../../src/protocol/errors.ts'

/** What a test's application has seen, and the application: it echoes the request, and refuses as the real one does. */
export function createEcho(limit = 1000): { app: HttpApp; bodies: string[] } {
  const bodies: string[] = []
  const echo: HttpApp = async request => {
    const body = Buffer.from(await request.body(limit)).toString()
    bodies.push(body)
    return json(200, { method: request.method, url: request.url, encrypted: request.encrypted, body })
  }
  return { bodies, app: request => echo(request).catch(refuse) }
}

export function json(status: number, value: unknown) {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

function refuse(error: unknown) {
  if (error instanceof BrokerError) return json(error.status, toErrorBody(error))
  throw error
}

/** Listens on a free port for as long as `use` runs. */
export async function serving(
  app: HttpApp,
  use: (server: RunningServer) => Promise<void>,
  options: Partial<ListenOptions> = {},
): Promise<void> {
  const server = await listen({ app, host: '127.0.0.1', port: 0, ...options })
  try {
    await use(server)
  } finally {
    await server.close(0)
  }
}

/** Sends text over a raw connection and collects what comes back until the server closes it. */
export function exchange(port: number, text: string, then?: (socket: Socket) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setEncoding('utf8')
    socket.on('data', data => {
      received += data
    })
    socket.on('error', error => (received === '' ? reject(error) : resolve(received)))
    socket.on('close', () => resolve(received))
    socket.write(text, () => then?.(socket))
  })
}

/** Status and body of the last answer in what `exchange` received. */
export function parseAnswer(text: string): { status: number; head: string; body: unknown } {
  const last = text.split(/^(?=HTTP\/1\.1 \d)/m).at(-1) ?? ''
  const [head = '', body = ''] = last.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body: JSON.parse(body) }
}

/** A promise to be settled from outside. */
export function deferred<Value = void>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}
