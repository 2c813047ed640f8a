import { once } from 'node:events'
import { type ClientRequest, type Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import type { Clock } from '../../clock.ts'
import { withoutUndefined } from '../../protocol/json.ts'
import { sayDuration } from '../../shape/duration.ts'
import { codeOf } from '../../shape/thrown.ts'
import { RegistryError } from '../registry-error.ts'
import { checkPublic, lookupPublic } from './private-address.ts'
import { basic, showUrl, Unanswered, type WebReply, type WebRequest } from './web-request.ts'

export interface Wire {
  readonly http: HttpAgent
  readonly https: HttpsAgent
  readonly tls: { readonly ca?: string[]; readonly rejectUnauthorized: boolean }
  readonly clock: Clock
  readonly timeout: number
  readonly signal: AbortSignal
  proxyFor(url: URL): URL | undefined
}

/** One request and its whole reply, within one time limit. Rejects with a RegistryError where a reply cannot be used. */
export async function send(request: WebRequest, wire: Wire): Promise<WebReply | Unanswered> {
  const { clock, timeout } = wire
  const place = showUrl(request.url)
  const late = new AbortController()
  const cancel = clock.after(timeout, () => late.abort())
  const signal = AbortSignal.any([wire.signal, late.signal])
  try {
    signal.throwIfAborted()
    const outgoing = await open(request, wire, signal)
    outgoing.end(request.body)
    const [incoming] = await once(outgoing, 'response', { signal })
    return await collect(incoming, request, place)
  } catch (error) {
    if (error instanceof RegistryError) throw error
    if (wire.signal.aborted) return new Unanswered(`${place}: it was stopped`)
    if (late.signal.aborted) return new Unanswered(`${place}: there was no whole reply within ${sayDuration(timeout)}`)
    return new Unanswered(`${place}: ${whyUnreachable(error)}`)
  } finally {
    cancel()
  }
}

async function open(
  { method, url, authorization, accept, body, mustBePublic }: WebRequest,
  { http, https, tls, proxyFor }: Wire,
  signal: AbortSignal,
): Promise<ClientRequest> {
  const headers = withoutUndefined({
    'accept-encoding': 'identity',
    'user-agent': 'purser',
    authorization,
    accept,
    'content-type': body && 'application/json',
    'content-length': body && String(Buffer.byteLength(body)),
  })
  if (mustBePublic) checkPublic(url)
  const proxy = proxyFor(url)
  // A proxy looks up names itself, and knows what it may reach.
  const lookup = mustBePublic ? lookupPublic : undefined
  if (url.protocol === 'http:') {
    if (proxy === undefined) return quiet(httpRequest(url, { method, headers, agent: http, signal, lookup }))
    const through = { ...headers, host: url.host, ...proxyAuthorization(proxy) }
    return quiet(httpRequest(proxy, { method, path: url.href, headers: through, agent: http, signal }))
  }
  if (proxy === undefined) return quiet(httpsRequest(url, { method, headers, agent: https, signal, lookup, ...tls }))
  const socket = await openTunnel(proxy, url, signal)
  const servername = isIP(url.hostname) === 0 && !url.hostname.startsWith('[') ? url.hostname : ''
  // Node uses createConnection only where no agent is given.
  const createConnection = () => tlsConnect({ ...tls, socket, servername })
  return quiet(httpsRequest(url, { method, headers, signal, createConnection }))
}

/** A connection to the server of `url` through a proxy, which sees nothing but its name. */
async function openTunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Socket> {
  const path = `${url.hostname}:${url.port || '443'}`
  const headers = { host: path, ...proxyAuthorization(proxy) }
  const outgoing = quiet(httpRequest(proxy, { method: 'CONNECT', path, headers, agent: false, signal }))
  outgoing.end()
  const [{ statusCode }, socket] = await once(outgoing, 'connect', { signal })
  if (statusCode === 200) return socket
  socket.destroy()
  throw new RegistryError(`the proxy ${proxy.host} answered ${statusCode} to a connection to ${path}`)
}

/** An error that nobody waits for any more must not end the process; whoever waits hears of it by `once`. */
function quiet(outgoing: ClientRequest): ClientRequest {
  return outgoing.on('error', () => {})
}

function proxyAuthorization({ username, password }: URL) {
  if (username === '') return {}
  return { 'proxy-authorization': basic(decodeURIComponent(username), decodeURIComponent(password)) }
}

async function collect(incoming: IncomingMessage, { url, limit }: WebRequest, place: string): Promise<WebReply> {
  const { statusCode: status = 0, headers: raw } = incoming
  // Leaving the loop, or the function, closes the connection of a reply that has not ended.
  if ((raw['content-encoding'] ?? 'identity') !== 'identity') {
    incoming.destroy()
    throw new RegistryError(`${place}: the reply is encoded, which was not asked for`)
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += chunk.length
    if (size > limit) throw new RegistryError(`${place}: the reply has more than ${limit} bytes, which is the limit`)
    chunks.push(chunk)
  }
  const headers = Object.entries(raw).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value])
  return { url, status, headers: Object.fromEntries(headers), body: Buffer.concat(chunks) }
}

/** Why no reply has come, and what to do; the error's own text is left out, because it may hold what was sent. */
function whyUnreachable(error: unknown): string {
  const code = codeOf(error)
  if (code === undefined) return error instanceof Error ? `it cannot be asked (${error.name})` : 'it cannot be asked'
  return reasons[code] ?? (isTrust(code) ? `its certificate is not trusted (${code}); ${remedy}` : `no reply (${code})`)
}

const remedy = 'name its authority with ca'

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there (ECONNREFUSED); start it, or correct the url',
  ENOTFOUND: 'its name is not known (ENOTFOUND); correct the url',
  EAI_AGAIN: 'its name cannot be resolved now (EAI_AGAIN)',
  ECONNRESET: 'the connection was cut (ECONNRESET)',
  EPIPE: 'the connection was cut (EPIPE)',
  EPROTO: 'it does not speak TLS (EPROTO); correct the url',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; write http:// in the url',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name; correct the url',
  CERT_HAS_EXPIRED: 'its certificate has expired; renew it',
}

function isTrust(code: string): boolean {
  return /CERT|SIGNATURE|ISSUER|LEAF|CHAIN/.test(code)
}
