import { type ClientRequest, request } from 'node:http'
import type { Socket } from 'node:net'
import { RegistryError } from '../registry-error.ts'
import { basic } from './basic.ts'

/** A connection to the server of `url` through a proxy, which sees nothing but its name. */
export function openTunnel(proxy: URL, url: URL, track: (request: ClientRequest) => ClientRequest): Promise<Socket> {
  const path = `${url.hostname}:${url.port || '443'}`
  const outgoing = track(
    request(proxy, { method: 'CONNECT', path, headers: { host: path, ...proxyAuthorization(proxy) }, agent: false }),
  )
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.on('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket as Socket)
      socket.destroy()
      reject(new RegistryError(`the proxy ${proxy.host} answered ${statusCode} to a connection to ${path}`))
    })
    outgoing.on('response', ({ statusCode }) => {
      outgoing.destroy()
      reject(new RegistryError(`the proxy ${proxy.host} answered ${statusCode} to a connection to ${path}`))
    })
    outgoing.end()
  })
}

export function proxyAuthorization({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '') return {}
  return { 'proxy-authorization': basic(decodeURIComponent(username), decodeURIComponent(password)) }
}
