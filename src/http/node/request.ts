import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { TlsConnection } from '../../authenticator.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { readOrRefuse } from '../../protocol/request-fields.ts'
import type { HttpRequest } from '../message.ts'
import { tooLarge, tooLargeNumber } from '../read-body.ts'

/** Nothing is read or copied before it is asked for. A class, so that getters are not made anew for each request. */
export class NodeRequest implements HttpRequest {
  readonly #request: HostedMessage
  readonly #awaited: ServerResponse | undefined
  #body: Promise<Uint8Array> | undefined

  /** `awaited` is the response of a client that waits for `100 Continue` before it sends its body. */
  constructor(request: HostedMessage, awaited?: ServerResponse) {
    this.#request = request
    this.#awaited = awaited
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }

  get url(): string {
    return toOriginForm(this.#request.url ?? '/')
  }

  /** Express and Connect take it off `url`, and keep the whole in `originalUrl`. */
  get mount(): string {
    const { originalUrl, url = '/' } = this.#request
    if (originalUrl === undefined) return ''
    const [whole, own] = [pathOf(toOriginForm(originalUrl)), pathOf(toOriginForm(url))]
    return whole.endsWith(own) ? whole.slice(0, whole.length - own.length) : whole
  }

  get headers(): Readonly<Record<string, string | undefined>> {
    return toHeaders(this.#request)
  }

  get encrypted(): boolean {
    return 'encrypted' in this.#request.socket
  }

  get address(): string | undefined {
    return this.#request.socket.remoteAddress
  }

  get tls(): TlsConnection | undefined {
    return tlsOf(this.#request.socket)
  }

  get connection(): object {
    return this.#request.socket
  }

  get aborted(): boolean {
    return this.#request.socket.destroyed
  }

  body(limit: number): Promise<Uint8Array> {
    this.#body ??= this.#read(limit)
    return this.#body
  }

  async *stream(limit: number): AsyncGenerator<Uint8Array> {
    const { headers } = this.#request
    if (!announcesBody(headers)) return
    if (announcedLength(headers) > limit) throw tooLarge(limit)
    if (this.#request.readableDidRead) {
      yield await readParsed(this.#request.body, limit)
      return
    }
    this.#awaited?.writeContinue()
    yield* piecesOf(this.#request, limit)
  }

  #read(limit: number): Promise<Uint8Array> {
    const { headers } = this.#request
    if (!announcesBody(headers)) return Promise.resolve(nothing)
    if (announcedLength(headers) > limit) return Promise.reject(tooLarge(limit))
    if (this.#request.readableDidRead) return readParsed(this.#request.body, limit)
    this.#awaited?.writeContinue()
    return readStream(this.#request, limit)
  }
}

function pathOf(target: string): string {
  const mark = target.indexOf('?')
  return mark < 0 ? target : target.slice(0, mark)
}

/** What handlers before ours may have left: where they were mounted, and the body if they have read it. */
type HostedMessage = IncomingMessage & { readonly originalUrl?: string; readonly body?: unknown }

/** A body that a parser of the host has read: bytes, text, or an object that was JSON. */
async function readParsed(parsed: unknown, limit: number): Promise<Uint8Array> {
  if (parsed === undefined) throw new BrokerError('MalformedRequest', 'The body was read before it reached the broker.')
  const bytes = parsed instanceof Uint8Array ? parsed : Buffer.from(toText(parsed))
  if (bytes.byteLength > limit) throw tooLarge(limit)
  return bytes
}

function toText(parsed: unknown): string {
  if (typeof parsed === 'string') return parsed
  let hasInfinity = false
  const look = (_: string, value: unknown) => {
    hasInfinity ||= value === Infinity || value === -Infinity
    return value
  }
  const text = readOrRefuse(() => JSON.stringify(parsed, look), 'the body cannot be written as JSON again')
  // It has null there.
  if (hasInfinity) throw tooLargeNumber()
  return text
}

/** Reads to the end. Rejects where the stream is cut off, or as soon as it is longer than the limit. */
export function readStream(stream: Readable, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const settle = (finish: () => void) => {
      stream.off('data', onData).off('end', onEnd).off('close', onCut).off('error', onCut)
      finish()
    }
    const onData = (chunk: Uint8Array) => {
      size += chunk.byteLength
      if (size <= limit) chunks.push(chunk)
      else settle(() => reject(tooLarge(limit)))
    }
    const onEnd = () =>
      settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)))
    const onCut = () => settle(() => reject(cut()))
    if (stream.destroyed) onCut()
    else stream.on('data', onData).on('end', onEnd).on('close', onCut).on('error', onCut)
  })
}

/** Piece by piece, as fast as they are taken. Rejects as `readStream` does. What is not taken is dropped. */
export async function* piecesOf(stream: Readable, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    // The connection has to live for the answer.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      size += chunk.byteLength
      if (size > limit) throw tooLarge(limit)
      yield chunk
    }
  } catch (error) {
    throw error instanceof BrokerError ? error : cut()
  } finally {
    stream.resume()
  }
}

export function announcesBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || announcedLength(headers) > 0
}

/** 0 where the length is not known beforehand. */
export function announcedLength(headers: IncomingHttpHeaders): number {
  return Number(headers['content-length'] ?? 0)
}

/** Node gives every name once and in lower case; only `set-cookie` is a list, and no client sends that on purpose. */
export function toHeaders(request: IncomingMessage): Readonly<Record<string, string | undefined>> {
  const { headers } = request
  const host = hostOf(request)
  const cookies = headers['set-cookie']?.join(', ')
  return cookies === undefined && host === headers.host
    ? (headers as Record<string, string | undefined>)
    : { ...headers, host, 'set-cookie': cookies }
}

/**
 * That of an absolute target comes before the header (RFC 9112, 3.2.2); HTTP/2 has only the former. Where there are two headers,
 * node shows one: here they are joined, and so are no host.
 */
function hostOf({ headers, rawHeaders, url = '/' }: IncomingMessage): string | undefined {
  if (url[0] !== '/') return absoluteForm.exec(url)?.[1] ?? headers.host
  let host: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue
    host = host === undefined ? headers.host : `${host}, ${rawHeaders[index + 1]}`
  }
  return host ?? headers.host ?? (headers[':authority'] as string | undefined)
}

export function cut(): BrokerError {
  return new BrokerError('MalformedRequest', 'The connection ended before the whole body had arrived.')
}

const nothing = new Uint8Array(0)

const absoluteForm = /^https?:\/\/([^/?#]*)/i

/** A client may send the absolute form as if to a proxy (RFC 9112, 3.2.2). */
export function toOriginForm(target: string): string {
  if (target[0] === '/') return target
  const [before] = absoluteForm.exec(target) ?? []
  if (before === undefined) return target
  const rest = target.slice(before.length)
  return rest[0] === '/' ? rest : `/${rest}`
}

/** What an authenticator may know of an encrypted connection; undefined for a plain one. */
export function tlsOf(socket: Socket): TlsConnection | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    authorized: socket.authorized,
    // The certificate is read only for a scheme that asks for it.
    get certificate() {
      const certificate = socket.getPeerX509Certificate()
      return (
        certificate && {
          subject: toName(certificate.subject),
          issuer: toName(certificate.issuer),
          // Node writes a comma within a name as an escape, so no name can look like two.
          names: certificate.subjectAltName?.split(', ') ?? [],
          fingerprint: certificate.fingerprint256,
          raw: () => certificate.raw,
        }
      )
    },
  }
}

/** Node writes one part per line. */
function toName(lines: string): string {
  return lines.split('\n').join(',')
}
