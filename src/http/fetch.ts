import { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import type { HttpApp, HttpRequest, HttpResponse } from './message.ts'
import { piecesOf, readStream } from './node/request.ts'
import { tooLarge } from './read-body.ts'

/** The application as a function of the web's Request, for hosts that speak it. */
export function toFetch(app: HttpApp): (request: Request) => Promise<Response> {
  return async request => {
    const { status, headers, body, stream } = await app(toHttpRequest(request))
    const bodiless = status === 204 || status === 304 || request.method === 'HEAD'
    const sent = stream === undefined ? body : toWebStream(stream)
    return new Response(bodiless ? null : sent, { status, headers: toWebHeaders(headers) })
  }
}

function toWebStream(stream: AsyncIterable<string | Uint8Array>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const pieces = stream[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done === true) controller.close()
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
    },
    async cancel() {
      await pieces.return?.()
    },
  })
}

function toWebHeaders(headers: HttpResponse['headers']): Headers {
  const result = new Headers()
  for (const [name, values] of Object.entries(headers)) for (const value of [values].flat()) result.append(name, value)
  return result
}

function toHttpRequest(request: Request): HttpRequest {
  const url = new URL(request.url)
  let body: Promise<Uint8Array> | undefined
  return {
    method: request.method,
    url: url.pathname + url.search,
    // Whoever made the Request has put the Host into its URL.
    headers: { host: url.host, ...Object.fromEntries(request.headers) },
    encrypted: url.protocol === 'https:',
    get aborted() {
      return request.signal.aborted
    },
    body(limit) {
      body ??= readBody(request, limit)
      return body
    },
    async *stream(limit) {
      const source = bodyOf(request, limit)
      if (source === undefined) return
      try {
        yield* piecesOf(source, limit)
      } finally {
        source.destroy()
      }
    },
  }
}

async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  const source = bodyOf(request, limit)
  // Nothing beyond the limit is kept: what was not read is cancelled.
  return source === undefined ? new Uint8Array(0) : readStream(source, limit).finally(() => source.destroy())
}

/** Undefined where there is none. */
function bodyOf({ headers, body }: Request, limit: number): Readable | undefined {
  if (Number(headers.get('content-length') ?? 0) > limit) throw tooLarge(limit)
  return body === null ? undefined : Readable.fromWeb(body as ReadableStream)
}
