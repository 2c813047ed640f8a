import { once } from 'node:events'
import { type ClientRequest, type OutgoingHttpHeaders, request } from 'node:http'
import type { Socket } from 'node:net'
import { RegistryError } from '../registry-error.ts'
import { basic } from './authorization.ts'

/** A connection to the server of `url` through a proxy, which sees nothing but its name. */
export async function openTunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Socket> {
  const path = `${url.hostname}:${url.port || '443'}`
  const headers = { host: path, ...proxyAuthorization(proxy) }
  const outgoing = quiet(request(proxy, { method: 'CONNECT', path, headers, agent: false, signal }))
  outgoing.end()
  const [{ statusCode }, socket] = await once(outgoing, 'connect', { signal })
  if (statusCode === 200) return socket
  socket.destroy()
  throw new RegistryError(`the proxy ${proxy.host} answered ${statusCode} to a connection to ${path}`)
}

/** An error that nobody waits for any more must not end the process; whoever waits hears of it by `once`. */
export function quiet(outgoing: ClientRequest): ClientRequest {
  return outgoing.on('error', () => {})
}

export function proxyAuthorization({ username, password }: URL): OutgoingHttpHeaders {
  if (username === '') return {}
  return { 'proxy-authorization': basic(decodeURIComponent(username), decodeURIComponent(password)) }
}
