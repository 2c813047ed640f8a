import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { BrokerError } from '../../protocol/errors.ts'
import type { HttpRequest } from '../message.ts'

/**
 * A node request as the application sees it. Nothing is read or copied before it is asked for; a class, because one is made
 * for each request and its getters should not be.
 */
export class NodeRequest implements HttpRequest {
  readonly #request: IncomingMessage
  readonly #awaited: ServerResponse | undefined
  #body: Promise<Uint8Array> | undefined

  /** `awaited` is the response of a client that waits for `100 Continue` before it sends its body. */
  constructor(request: IncomingMessage, awaited?: ServerResponse) {
    this.#request = request
    this.#awaited = awaited
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }

  get url(): string {
    return toOriginForm(this.#request.url ?? '/')
  }

  get headers(): Readonly<Record<string, string | undefined>> {
    return toHeaders(this.#request.headers)
  }

  get encrypted(): boolean {
    return 'encrypted' in this.#request.socket
  }

  body(limit: number): Promise<Uint8Array> {
    this.#body ??= this.#read(limit)
    return this.#body
  }

  #read(limit: number): Promise<Uint8Array> {
    const { headers } = this.#request
    if (!announcesBody(headers)) return Promise.resolve(nothing)
    if (announcedLength(headers) > limit) return Promise.reject(tooLarge(limit))
    this.#awaited?.writeContinue()
    return readStream(this.#request, limit)
  }
}

/** Reads to the end. A stream that is cut never resolves; one that is too long is dropped where the limit is passed. */
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

export function announcesBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || announcedLength(headers) > 0
}

/** 0 where the length is not known beforehand. */
export function announcedLength(headers: IncomingHttpHeaders): number {
  return Number(headers['content-length'] ?? 0)
}

/** Node gives every name once and in lower case; only `set-cookie` is a list, and no client sends that on purpose. */
export function toHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string | undefined>> {
  return isFlat(headers) ? headers : { ...headers, 'set-cookie': headers['set-cookie']?.join(', ') }
}

function isFlat(headers: IncomingHttpHeaders): headers is Record<string, string | undefined> {
  return headers['set-cookie'] === undefined
}

export function tooLarge(limit: number): BrokerError {
  return new BrokerError('PayloadTooLarge', `The request's body is larger than the allowed ${limit} bytes.`)
}

export function cut(): BrokerError {
  return new BrokerError('MalformedRequest', 'The connection ended before the whole body had arrived.')
}

const nothing = new Uint8Array(0)

/** A client may send the absolute form as if to a proxy (RFC 9112, 3.2.2). */
function toOriginForm(target: string): string {
  if (target.charCodeAt(0) === slash || !/^https?:\/\//i.test(target)) return target
  const path = target.indexOf('/', target.indexOf('//') + 2)
  return path < 0 ? '/' : target.slice(path)
}

const slash = 47
