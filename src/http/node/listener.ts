import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, systemClock } from '../../clock.ts'
import { type Observer, silent, toError } from '../../observer.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { type HttpApp, type HttpResponse, sizeOf } from '../message.ts'
import { keepTickShape } from './keep-tick-shape.ts'
import { lingerTime, toRefusal, toRefused } from './refuse.ts'
import { announcedLength, NodeRequest } from './request.ts'
import { dropStream, sendStream } from './send-stream.ts'

/** For node's `request` event, and what a server that closes needs to know. */
export interface NodeListener {
  (request: IncomingMessage, response: ServerResponse): void
  /** For `checkContinue`: the client is told to go on when the application asks for the body, not before. */
  readonly awaited: (request: IncomingMessage, response: ServerResponse) => void
  /** Answers a request that the application does not see. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, error: BrokerError) => void
  /** Responses that are not finished. */
  readonly running: ReadonlySet<ServerResponse>
  /** From here on every answer ends its connection. */
  drain(): void
  /** The next answer on each of these ends its connection. */
  retire(sockets: Iterable<Socket>): void
}

export interface NodeListenerOptions {
  /** Told of requests that the application never saw, and of errors that it did not turn into an answer. */
  readonly observer?: Observer
  readonly clock?: Clock
  /** Browsers are told to use TLS only from now on. For a server of its own: other applications may share a host. */
  readonly strictTransport?: boolean
}

/** Serves the application to node:http: one object per request, one write per answer, no promise but the application's. */
export function createNodeListener(app: HttpApp, options: NodeListenerOptions = {}): NodeListener {
  keepTickShape()
  const { observer = silent, clock = systemClock, strictTransport = false } = options
  const running = new Set<ServerResponse>()
  /** Answers that wait for earlier ones on their connection (pipelining): they have no socket yet, and may never get one. */
  const queued = new WeakMap<Socket, Set<ServerResponse>>()
  let draining = false
  const retired = new WeakSet<Socket>()

  function serve(request: IncomingMessage, response: ServerResponse, awaited?: ServerResponse): void {
    running.add(response)
    const refusal = checkHost(request)
    if (refusal !== undefined) {
      refuse(request, response, refusal)
      return
    }
    try {
      app(new NodeRequest(request, awaited)).then(
        result => answer(request, response, result),
        error => answer(request, response, fail(error)),
      )
    } catch (error) {
      answer(request, response, fail(error))
    }
  }

  function refuse(request: IncomingMessage, response: ServerResponse, error: BrokerError): void {
    const refusal = toRefusal(error)
    answer(request, response, refusal)
    observer['request.ended']?.(toRefused(request, refusal, request.socket, clock.now()))
  }

  function answer(request: IncomingMessage, response: ServerResponse, result: HttpResponse): void {
    if (request.socket.destroyed || request.socket.writableEnded) {
      running.delete(response)
      dropStream(result.stream)
      return
    }
    if (draining || result.status === 413 || retired.has(request.socket)) response.shouldKeepAlive = false
    try {
      if (result.stream !== undefined) {
        response.writeHead(result.status, toFields(request, result, strictTransport))
        void sendStream(response, result.stream).then(() => running.delete(response))
      } else if (isLongUnread(request)) {
        linger(request, response, result)
      } else {
        send(response.writeHead(result.status, toFields(request, result, strictTransport)), result.body)
        if (response.socket === null) deleteWhenOut(request, response)
        else running.delete(response)
      }
    } catch (error) {
      // Node refuses a header it cannot write before it has sent anything.
      if (response.headersSent) request.socket.destroy()
      answer(request, response, fail(error))
    }
  }

  /** Then drops what the client still sends: closing in the middle of it would hide the answer from the client. */
  function linger(request: IncomingMessage, response: ServerResponse, result: HttpResponse): void {
    response.shouldKeepAlive = false
    response.writeHead(result.status, toFields(request, result, strictTransport))
    if (result.body.length > 0) response.write(result.body)
    else response.flushHeaders()
    const finish = () => {
      cancel()
      request.off('end', finish).off('close', finish)
      response.end()
      running.delete(response)
    }
    const cancel = clock.after(lingerTime, finish)
    request.on('end', finish).on('close', finish).resume()
  }

  function deleteWhenOut({ socket }: IncomingMessage, response: ServerResponse): void {
    const waiting = queued.get(socket) ?? watch(socket)
    waiting.add(response)
    response.once('finish', () => {
      waiting.delete(response)
      running.delete(response)
    })
  }

  /** One listener for all answers of a connection, which may be any number. */
  function watch(socket: Socket): Set<ServerResponse> {
    const waiting = new Set<ServerResponse>()
    queued.set(socket, waiting)
    socket.once('close', () => {
      for (const response of waiting) running.delete(response)
    })
    return waiting
  }

  function fail(error: unknown): HttpResponse {
    if (error instanceof BrokerError) return toRefusal(error)
    observer['request.failed']?.({ error: toError(error), status: 500 })
    return toRefusal(new BrokerError('InternalError', 'The broker failed to answer. Its log says why.'))
  }

  return Object.assign((request: IncomingMessage, response: ServerResponse) => serve(request, response), {
    awaited: (request: IncomingMessage, response: ServerResponse) => serve(request, response, response),
    refuse,
    running,
    drain: () => {
      draining = true
    },
    retire: (sockets: Iterable<Socket>) => {
      for (const socket of sockets) retired.add(socket)
    },
  })
}

/** RFC 9112, 3.2: exactly one Host, which HTTP/1.0 may leave out. */
function checkHost({ headers, httpVersionMinor }: IncomingMessage): BrokerError | undefined {
  const { host } = headers
  const valid = host === undefined ? httpVersionMinor === 0 : !host.includes(',')
  return valid ? undefined : new BrokerError('MalformedRequest', 'The request must have exactly one Host header.')
}

/** Whether much of the body was not read. Node drops a short rest and keeps the connection; for a long one that is not worth it. */
function isLongUnread({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || announcedLength(headers) > 65_536)
}

/** The head and the body in one piece. `end` with a body adds an empty one, and two pieces take a longer way to the socket. */
function send(response: ServerResponse, body: string | Uint8Array): void {
  response.cork()
  response.write(body)
  response.uncork()
  response.end()
}

/** A flat list of names and values, which node writes as they are. */
function toFields({ method }: IncomingMessage, response: HttpResponse, strictTransport: boolean): string[] {
  const { status, headers, body, stream } = response
  const fields: string[] = strictTransport ? ['strict-transport-security', 'max-age=31536000'] : []
  let sized = stream !== undefined || status === 204 || status === 304 || (method === 'HEAD' && body.length === 0)
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    if (typeof value === 'string') fields.push(name, value)
    else for (const one of value) fields.push(name, one)
    if (name.length === 14 && name.toLowerCase() === 'content-length') sized = true
  }
  if (!sized) fields.push('content-length', String(sizeOf(response)))
  return fields
}
