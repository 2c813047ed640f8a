import { Readable } from 'node:stream'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { HttpApp, HttpRequest } from './message.ts'
import { announcedLength, announcesBody, readStream, toHeaders, tooLarge } from './node/request.ts'

export interface FastifyPluginOptions {
  /** Bytes; the application's own limit counts too, and the smaller one decides. */
  readonly bodyLimit?: number
}

/**
 * The application as a Fastify plugin: `server.register(toFastifyPlugin(app), { prefix: '/broker' })`. It answers everything
 * under its prefix and sees URLs without it. Bodies reach it raw; the host's content type parsers and routes stay untouched.
 */
export function toFastifyPlugin(app: HttpApp, options: FastifyPluginOptions = {}): FastifyPluginAsync {
  const { bodyLimit = Number.POSITIVE_INFINITY } = options
  return async scope => {
    const prefixSegments = scope.prefix.split('/').filter(segment => segment !== '').length
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    const paths = scope.prefix === '' ? ['/*'] : ['/', '/*']
    for (const path of paths) {
      scope.all(path, async (request, reply) => {
        const { status, headers, body } = await app(toHttpRequest(request, prefixSegments, bodyLimit))
        // What was not read of a long body is not worth keeping the connection for.
        if (status === 413) reply.header('connection', 'close')
        return reply
          .code(status)
          .headers(headers)
          .send(typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength))
      })
    }
  }
}

function toHttpRequest(request: FastifyRequest, prefixSegments: number, bodyLimit: number): HttpRequest {
  let body: Promise<Uint8Array> | undefined
  return {
    method: request.method,
    url: withoutPrefix(request.raw.url ?? '/', prefixSegments),
    headers: toHeaders(request.headers),
    encrypted: request.protocol === 'https',
    body(limit) {
      body ??= readBody(request, Math.min(limit, bodyLimit))
      return body
    },
  }
}

async function readBody(request: FastifyRequest, limit: number): Promise<Uint8Array> {
  if (!announcesBody(request.headers)) return new Uint8Array(0)
  if (announcedLength(request.headers) > limit) throw tooLarge(limit)
  // A hook of the host may have put another stream in the place of the socket's.
  return readStream(request.body instanceof Readable ? request.body : request.raw, limit)
}

/** By segments and not by text: a prefix may hold parameters, and its characters may come percent-encoded. */
function withoutPrefix(url: string, segments: number): string {
  let from = 0
  for (let segment = 0; segment < segments; segment += 1) {
    const next = url.slice(from + 1).search(/[/?]/)
    if (next < 0) return '/'
    from += 1 + next
    if (url[from] === '?') return `/${url.slice(from)}`
  }
  return url.slice(from)
}
