import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { BrokerEvents } from '../../events.ts'
import { BrokerError, type ErrorCode, toErrorBody } from '../../protocol/errors.ts'
import { codeOf } from '../../shape/thrown.ts'
import { type HttpResponse, sizeOf } from '../message.ts'
import { json } from '../respond.ts'
import type { NodeListener, NodeListenerOptions } from './listener.ts'

/** How long a connection is still read after its last answer, so that a client that is still sending can see it. */
export const lingerTime = 2000

/** The answer to a request that the application never saw, or failed to answer. */
export function toRefusal(error: BrokerError): HttpResponse {
  return json(error.status, toErrorBody(error))
}

/**
 * Answers a request that node's parser gave up on. Complete requests before it on the same connection are answered first,
 * and then the connection ends: the client must not take the refusal for the answer to one of them.
 */
export function refuseConnection(
  error: Error,
  socket: Duplex,
  {
    running,
    clock,
    observer,
  }: Pick<NodeListener, 'running'> & Required<Pick<NodeListenerOptions, 'clock' | 'observer'>>,
): void {
  const code = codeOf(error) ?? ''
  // This connection was refused before: what comes now is the rest of that request.
  if (socket.writableEnded) return
  if (!socket.writable || isBroken(code)) {
    socket.destroy()
    return
  }
  const pending = [...running].filter(({ req }) => req.socket === socket)
  const whole = pending.filter(({ req }) => req.complete)
  const last = whole.at(-1)
  if (last !== undefined) {
    last.shouldKeepAlive = false
    if (last.headersSent) last.once('finish', () => socket.end())
    return
  }
  const answered = pending.some(({ headersSent }) => headersSent)
  const refusal = toRefusal(explain(code))
  socket.end(answered ? undefined : toWire(refusal))
  // A request that the application has seen is told about there.
  if (pending.length === 0) observer['request.ended']?.(toRefused({}, refusal, socket as Partial<Socket>, clock.now()))
  clock.after(lingerTime, () => socket.destroy())
}

/** What is told about a request that the application never saw. */
export function toRefused(
  { method, url = '' }: { readonly method?: string; readonly url?: string },
  response: HttpResponse,
  { remoteAddress, destroyed = false }: Partial<Socket>,
  now: number,
): BrokerEvents['request.ended'] {
  return {
    method,
    path: url.split('?')[0] || undefined,
    status: response.status,
    bytes: sizeOf(response),
    startedAt: now,
    durationMs: 0,
    address: remoteAddress,
    aborted: destroyed,
  }
}

/** The peer is gone, or what it speaks is not TLS: there is nobody to answer. */
function isBroken(code: string): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')
}

function explain(code: string): BrokerError {
  const [error, description] = explanations[code] ?? ['MalformedRequest', 'This is not a well-formed HTTP/1.1 request.']
  return new BrokerError(error, description)
}

const explanations: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['HeadersTooLarge', 'The request line and the headers are larger than allowed.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PayloadTooLarge', 'The extensions of a chunk are larger than allowed.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['RequestTimeout', 'The whole request did not arrive in time.'],
}

function toWire(response: HttpResponse): string {
  const { status, headers, body } = response
  const fields = { ...headers, 'content-length': sizeOf(response), connection: 'close' }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n')
}
