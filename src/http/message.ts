import type { TlsConnection } from '../authenticator.ts'

/**
 * HTTP as the application sees it: one function from request to response. Adapters make it a server of its own, a function
 * of the web's Request, or a part of an application that exists already.
 */
export interface HttpRequest {
  readonly method: string
  /** Path and query as they came, not decoded. */
  readonly url: string
  /** Where an application has mounted the broker: what stood before `url`, such as `/broker`. */
  readonly mount?: string
  /** Names in lower case. A name that came several times is joined with `, ` as HTTP says. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Whether the client's connection is encrypted; decides the scheme of URLs that are made from the Host header. */
  readonly encrypted: boolean
  /** The client's IP address, or that of the last proxy. */
  readonly address?: string
  /** For an encrypted connection, where the adapter knows it. */
  readonly tls?: TlsConnection
  /** The same object for all requests of a connection, where the adapter knows it. */
  readonly connection?: object
  /** The client has hung up: nobody will read the answer. */
  readonly aborted?: boolean
  /** Reads the whole body, at most `limit` bytes; throws BrokerError PayloadTooLarge or MalformedRequest. */
  body(limit: number): Promise<Uint8Array>
  /** The same piece by piece, as it is asked for. Without it, `body` is read as a whole. */
  stream?(limit: number): AsyncIterable<Uint8Array>
}

/** Where the client has reached this server, as far as the request tells. */
export function originOf({ encrypted, headers }: HttpRequest): string {
  return `${encrypted ? 'https' : 'http'}://${headers.host ?? 'localhost'}`
}

export interface HttpResponse {
  readonly status: number
  /** A header with several values is sent once for each of them. */
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: string | Uint8Array
  /** Sent piece by piece in the place of `body`, until it ends or the client hangs up: then its iterator is told to return. */
  readonly stream?: AsyncIterable<string | Uint8Array>
  /** How many bytes the body has, where somebody has counted them already. */
  readonly bytes?: number
}

export function sizeOf({ body, bytes }: HttpResponse): number {
  return bytes ?? Buffer.byteLength(body)
}

export type HttpApp = (request: HttpRequest) => Promise<HttpResponse>

/** What an adapter needs of a broker. */
export interface HttpBroker {
  readonly handle: HttpApp
  start(): Promise<void>
  close(): Promise<void>
}
