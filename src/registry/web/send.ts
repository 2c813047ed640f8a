import { type ClientRequest, type Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import type { Clock } from '../../clock.ts'
import { RegistryError } from '../registry-error.ts'
import { openTunnel, proxyAuthorization } from './tunnel.ts'
import { whyUnreachable } from './why-unreachable.ts'

export interface WebRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Bytes: a longer reply is refused. */
  readonly limit: number
}

export interface WebReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

export interface Wire {
  readonly http: HttpAgent
  readonly https: HttpsAgent
  readonly tls: { readonly ca?: readonly string[]; readonly rejectUnauthorized: boolean }
  readonly clock: Clock
  readonly requestMs: number
  readonly signal: AbortSignal
  proxyFor(url: URL): URL | undefined
}

/** No whole reply has come. */
export class Unanswered extends RegistryError {}

/** One request and its whole reply, within one time limit. Rejects with a RegistryError whatever goes wrong. */
export function send(request: WebRequest, wire: Wire): Promise<WebReply> {
  const { signal, clock, requestMs } = wire
  const place = showUrl(request.url)
  return new Promise<WebReply>((resolve, reject) => {
    let current: ClientRequest | undefined
    let over = false
    const end = (finish: () => void) => {
      if (over) return
      over = true
      cancel()
      signal.removeEventListener('abort', stop)
      finish()
    }
    const fail = (error: unknown) =>
      end(() => {
        current?.destroy()
        reject(error instanceof RegistryError ? error : new Unanswered(`${place}: ${whyUnreachable(error)}`))
      })
    const stop = () => fail(new Unanswered(`${place}: it was stopped`))
    const cancel = clock.after(requestMs, () =>
      fail(new Unanswered(`${place}: there was no whole reply within ${requestMs} ms`)),
    )
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) return stop()
    const track = (outgoing: ClientRequest) => {
      if (over) outgoing.destroy()
      current = outgoing
      outgoing.on('error', fail)
      return outgoing
    }
    open(request, wire, track).then(outgoing => {
      outgoing.on('response', incoming => collect(incoming, request, place, reply => end(() => resolve(reply)), fail))
      outgoing.end(request.body)
    }, fail)
  })
}

/** Without a query or a user: they may hold secrets. */
export function showUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`
}

async function open(
  { method, url, headers, body }: WebRequest,
  wire: Wire,
  track: (request: ClientRequest) => ClientRequest,
): Promise<ClientRequest> {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const all = { 'accept-encoding': 'identity', 'user-agent': 'purser', ...headers, ...length }
  const proxy = wire.proxyFor(url)
  if (url.protocol === 'http:') {
    if (proxy === undefined) return track(httpRequest(url, { method, headers: all, agent: wire.http }))
    const through = { ...all, host: url.host, ...proxyAuthorization(proxy) }
    return track(httpRequest(proxy, { method, path: url.href, headers: through, agent: wire.http }))
  }
  const tls = { ...wire.tls, ca: wire.tls.ca === undefined ? undefined : [...wire.tls.ca] }
  if (proxy === undefined) return track(httpsRequest(url, { method, headers: all, agent: wire.https, ...tls }))
  const socket = await openTunnel(proxy, url, track)
  const servername = isIP(url.hostname) === 0 && !url.hostname.startsWith('[') ? url.hostname : ''
  return track(
    httpsRequest(url, {
      method,
      headers: all,
      // Used only where no agent is given.
      createConnection: () => tlsConnect({ ...tls, socket, servername }),
    }),
  )
}

function collect(
  incoming: IncomingMessage,
  { limit }: WebRequest,
  place: string,
  done: (reply: WebReply) => void,
  fail: (error: unknown) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  const { statusCode: status = 0, headers: raw } = incoming
  const encoding = raw['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    fail(new RegistryError(`${place}: the reply is encoded, which was not asked for`))
    return
  }
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > limit) fail(new RegistryError(`${place}: the reply has more than ${limit} bytes, which is the limit`))
    else chunks.push(chunk)
  })
  incoming.on('error', fail)
  incoming.on('end', () => {
    const headers = Object.fromEntries(
      Object.entries(raw).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
    )
    done({ status, headers, body: Buffer.concat(chunks) })
  })
}
