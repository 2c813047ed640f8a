import { createServer as createHttpServer, type Server, type ServerOptions } from 'node:http'
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type Clock, systemClock } from '../clock.ts'
import { combineObservers, type Observer } from '../observer.ts'
import { BrokerError } from '../protocol/errors.ts'
import { listenDefaults } from '../settings/settings.ts'
import type { HttpApp } from './message.ts'
import { bind, loadTls } from './node/listen.ts'
import { createNodeListener, type NodeListener } from './node/listener.ts'
import { refuseConnection } from './node/refuse.ts'
import type { TlsFiles } from './node/tls-files.ts'

export { ListenError } from './node/listen-error.ts'
export type { TlsFiles } from './node/tls-files.ts'

/** What one client may use. Sizes in bytes, times in milliseconds. The application limits the size of bodies. */
export interface NodeLimits {
  /** Request line and headers together. */
  readonly headerLimit: number
  /** Until the headers have arrived, and until the whole request has. */
  readonly headersTimeout: number
  readonly requestTimeout: number
  /** How long an unused connection stays open. */
  readonly keepAliveTimeout: number
  /** Connections at a time; one more is closed at once. */
  readonly maxConnections: number
}

export interface ListenOptions {
  readonly app: HttpApp
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly tls?: TlsFiles
  readonly limits?: Partial<NodeLimits>
  readonly observer?: Observer
  readonly clock?: Clock
}

export interface RunningServer {
  /** Where a client on this machine reaches it. */
  readonly url: string
  readonly port: number
  /** From here on every answer ends its connection, so that clients that keep theirs look for another server. */
  announceClose(): void
  /**
   * Reads the files of TLS again, for connections that begin from now on. Throws ListenError where they cannot be used, and goes
   * on with what it has. Where clients show certificates, each connection that is open ends with its next answer.
   */
  reloadTls(files: TlsFiles): Promise<void>
  /** Takes no more connections, lets running requests end for at most `grace`, then cuts what is left. */
  close(grace: number): Promise<void>
}

/** Resolves when the server takes connections; throws ListenError where it cannot. */
export async function listen(options: ListenOptions): Promise<RunningServer> {
  const { app, host, port, clock = systemClock } = options
  const observer = combineObservers(options.observer)
  const listener = createNodeListener(app, { observer, clock, strictTransport: options.tls !== undefined })
  const server = await createServer(options)
  const connections = trackConnections(server, options.tls !== undefined)
  server.on('request', listener)
  server.on('checkContinue', listener.awaited)
  server.on('checkExpectation', (request, response) => listener.refuse(request, response, expectationFailed()))
  const parts = { running: listener.running, clock, observer }
  server.on('clientError', (error, socket) => refuseConnection(error, socket, parts))
  await bind(server, host, port)
  server.on('error', error => observer['server.failed']?.({ error }))
  const address = server.address() as AddressInfo
  let closed: Promise<void> | undefined
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${toReachable(address)}:${address.port}`,
    port: address.port,
    announceClose: () => listener.drain(),
    async reloadTls(files) {
      const loaded = await loadTls(files)
      if (!(server instanceof HttpsServer)) return
      server.setSecureContext(loaded)
      if (files.ca !== undefined) listener.retire(connections.open)
    },
    close(grace) {
      closed ??= closeGracefully(server, listener, connections, cut => clock.after(grace, cut))
      return closed
    },
  }
}

/** Longer than the 60 to 90 seconds of common proxies: the broker must not close a connection that a proxy is about to use. */
const longKeepAlive = 95_000

async function createServer({ tls, limits = {} }: ListenOptions): Promise<Server> {
  const preset = listenDefaults()
  const { headerLimit = preset.headerLimit, requestTimeout = preset.requestTimeout } = limits
  const headersTimeout = Math.min(limits.headersTimeout ?? 20_000, requestTimeout)
  const options: ServerOptions = {
    maxHeaderSize: headerLimit,
    requestTimeout,
    headersTimeout,
    keepAliveTimeout: limits.keepAliveTimeout ?? longKeepAlive,
    connectionsCheckingInterval: Math.min(1000, Math.ceil(headersTimeout / 2)),
    joinDuplicateHeaders: true,
    // The listener checks Host itself: node would refuse without a body.
    requireHostHeader: false,
  }
  const server: Server =
    tls === undefined
      ? createHttpServer(options)
      : createHttpsServer({ ...options, ...(await loadTls(tls)), handshakeTimeout: headersTimeout })
  // Their size is limited instead: node drops headers beyond this count without an error.
  server.maxHeadersCount = 0
  server.maxConnections = limits.maxConnections ?? preset.maxConnections
  return server
}

interface Connections {
  /** Those that HTTP is spoken on. */
  readonly open: ReadonlySet<Socket>
  /** All, those in a TLS handshake included. */
  readonly raw: ReadonlySet<Socket>
}

function trackConnections(server: Server, encrypted: boolean): Connections {
  const track = (event: string) => {
    const sockets = new Set<Socket>()
    server.on(event, (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    return sockets
  }
  const raw = track('connection')
  return { raw, open: encrypted ? track('secureConnection') : raw }
}

async function closeGracefully(
  server: Server,
  listener: NodeListener,
  connections: Connections,
  afterGrace: (cut: () => void) => () => void,
): Promise<void> {
  listener.drain()
  const busy = new Set([...listener.running].map(response => response.req.socket))
  const ended = new Promise<void>(resolve => server.close(() => resolve()))
  const cut = () => {
    for (const socket of [...connections.open, ...connections.raw]) socket.destroy()
  }
  const cancel = afterGrace(cut)
  // A connection that has sent no request yet is not waited for.
  const cutIdle = () => {
    if (connections.open.size === 0) cut()
  }
  for (const socket of connections.open) {
    socket.once('close', cutIdle)
    if (!busy.has(socket)) socket.destroySoon()
  }
  cutIdle()
  await ended
  cancel()
}

function expectationFailed(): BrokerError {
  const problem = 'The only expectation that this server knows is 100-continue.'
  return new BrokerError('MalformedRequest', problem, { status: 417 })
}

function toReachable({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0') return '127.0.0.1'
  if (address === '::') return '[::1]'
  return family === 'IPv6' ? `[${address}]` : address
}
