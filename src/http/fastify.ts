import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { HttpBroker, HttpRequest } from './message.ts'
import { announcedLength, announcesBody, piecesOf, readStream, tlsOf, toHeaders, toOriginForm } from './node/request.ts'
import { toReadable } from './node/send-stream.ts'
import { tooLarge } from './read-body.ts'

/** What Fastify gives to a plugin. Its own types are not named, so that nobody needs Fastify to compile `purser`. */
export interface FastifyScope {
  readonly prefix: string
}

/** What of it is used. */
interface Scope extends FastifyScope {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    parser: (request: never, payload: unknown, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown
  all(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown
  addHook(name: 'onClose', hook: () => Promise<void>): unknown
}

interface FastifyRequest {
  readonly method: string
  readonly protocol: string
  readonly ip: string
  readonly raw: IncomingMessage
  readonly body?: unknown
}

interface FastifyReply {
  code(status: number): this
  header(name: string, value: string): this
  headers(values: Readonly<Record<string, string | string[]>>): this
  send(body?: unknown): this
}

/**
 * A broker as a Fastify plugin: `app.register(toFastify(broker), { prefix: '/broker' })`. It starts and closes with the
 * application, answers everything under its prefix, and sees URLs without it. Bodies reach it raw; the content type parsers
 * and routes of the application stay untouched.
 */
export function toFastify(broker: HttpBroker): (scope: FastifyScope) => Promise<void> {
  return async given => {
    const scope = given as Scope
    await broker.start()
    scope.addHook('onClose', () => broker.close())
    const prefixSegments = scope.prefix.split('/').filter(segment => segment !== '').length
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    const paths = scope.prefix === '' ? ['/*'] : ['/', '/*']
    for (const path of paths) {
      scope.all(path, async (request, reply) => {
        const { status, headers, body, stream } = await broker.handle(toHttpRequest(request, prefixSegments))
        // What was not read of a long body is not worth keeping the connection for.
        if (status === 413) reply.header('connection', 'close')
        // As bytes: Fastify adds a charset to the type of a text.
        return reply
          .code(status)
          .headers(headers)
          .send(stream === undefined ? Buffer.from(body) : toReadable(stream))
      })
    }
  }
}

function toHttpRequest(request: FastifyRequest, prefixSegments: number): HttpRequest {
  let body: Promise<Uint8Array> | undefined
  const target = toOriginForm(request.raw.url ?? '/')
  const from = endOfPrefix(target, prefixSegments)
  return {
    method: request.method,
    url: target[from] === '/' ? target.slice(from) : `/${target.slice(from)}`,
    mount: target.slice(0, from),
    headers: toHeaders(request.raw),
    encrypted: request.protocol === 'https',
    address: request.ip,
    tls: tlsOf(request.raw.socket),
    connection: request.raw.socket,
    get aborted() {
      return request.raw.socket.destroyed
    },
    body(limit) {
      body ??= readBody(request, limit)
      return body
    },
    async *stream(limit) {
      const source = bodyOf(request, limit)
      if (source !== undefined) yield* piecesOf(source, limit)
    },
  }
}

async function readBody(request: FastifyRequest, limit: number): Promise<Uint8Array> {
  const source = bodyOf(request, limit)
  return source === undefined ? new Uint8Array(0) : readStream(source, limit)
}

/** Undefined where there is none. */
function bodyOf({ raw, body }: FastifyRequest, limit: number): Readable | undefined {
  if (!announcesBody(raw.headers)) return undefined
  if (announcedLength(raw.headers) > limit) throw tooLarge(limit)
  // A hook of the host may have put another stream in the place of the socket's.
  return body instanceof Readable ? body : raw
}

/** By segments and not by text: a prefix may hold parameters, and its characters may come percent-encoded. */
function endOfPrefix(url: string, segments: number): number {
  let from = 0
  for (let segment = 0; segment < segments; segment += 1) {
    const next = url.slice(from + 1).search(/[/?]/)
    if (next < 0) return url.length
    from += 1 + next
    if (url[from] === '?') return from
  }
  return from
}
