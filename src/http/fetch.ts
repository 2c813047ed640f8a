import { BrokerError } from '../protocol/errors.ts'
import type { HttpApp, HttpRequest, HttpResponse } from './message.ts'
import { tooLarge } from './read-body.ts'

/** The application as a function of the web's Request, for hosts that speak it. */
export function toFetch(app: HttpApp): (request: Request) => Promise<Response> {
  return async request => {
    const { status, headers, body } = await app(toHttpRequest(request))
    const bodiless = status === 204 || status === 304 || request.method === 'HEAD'
    return new Response(bodiless ? null : body, { status, headers: toWebHeaders(headers) })
  }
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
    headers: Object.fromEntries(request.headers),
    encrypted: url.protocol === 'https:',
    get aborted() {
      return request.signal.aborted
    },
    body(limit) {
      body ??= readBody(request, limit)
      return body
    },
  }
}

async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit)
  if (request.body === null) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength
      // Leaving the loop cancels the stream: nothing beyond the limit is kept.
      if (size > limit) break
      chunks.push(chunk)
    }
  } catch (error) {
    throw new BrokerError('MalformedRequest', 'The body could not be read to its end.', { cause: error })
  }
  if (size > limit) throw tooLarge(limit)
  return Buffer.concat(chunks, size)
}
