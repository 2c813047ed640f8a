/**
 * HTTP as the application sees it: one function from request to response. `node.ts`, `fetch.ts`, `fastify.ts` and
 * `express.ts` adapt it to a socket, to the web's Request, and to an existing Fastify or Express application.
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
  /** Reads the whole body, at most `limit` bytes; throws BrokerError PayloadTooLarge or MalformedRequest. */
  body(limit: number): Promise<Uint8Array>
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

export type HttpApp = (request: HttpRequest) => Promise<HttpResponse>

/** What an adapter needs of a broker. */
export interface HttpBroker {
  readonly handle: HttpApp
  start(): Promise<void>
  close(): Promise<void>
}
