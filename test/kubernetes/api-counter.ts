import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as plainRequest } from 'node:http'
import { Agent, type RequestOptions, request as tlsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { KubeConfig } from '@kubernetes/client-node'
import { sleep, systemClock } from '../../src/clock.ts'
import { type Cluster, type ClusterOptions, connectCluster } from '../../src/kubernetes/cluster.ts'

export interface ApiCounter {
  /** How many there were until now, commands in pods included. */
  requests(): number
  /** What it does to requests from now on, by their numbers and paths; undefined: nothing. */
  trouble(cause: ((turn: number, path: string) => Trouble | undefined) | undefined): void
  /** Cuts what is open. */
  cutAll(): void
  /** The text of one that leads through it. */
  readonly kubeconfig: string
  stop(): Promise<void>
}

/** Milliseconds that an answer takes longer; an answer in the place of the server's; or a connection that is cut. */
export type Trouble = { readonly delay: number } | { readonly status: number; readonly after: number } | 'cut'

/** A connection that leads through it. */
export async function connectThrough(
  { kubeconfig }: ApiCounter,
  options: Partial<ClusterOptions> = {},
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-counter-'))
  writeFileSync(join(folder, 'kubeconfig'), kubeconfig, { mode: 0o600 })
  try {
    return await connectCluster({ kubeconfig: join(folder, 'kubeconfig') }, { clock: systemClock, env: {}, ...options })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Stands before the API server, with the credentials of the cluster, and counts. */
export async function startApiCounter(cluster: Cluster): Promise<ApiCounter> {
  let requests = 0
  const sockets = new Set<Duplex>()
  const target = new URL(cluster.config.getCurrentCluster()?.server ?? '')
  const credentials: RequestOptions = {}
  await cluster.config.applyToHTTPSOptions(credentials)
  const { ca, cert, key, servername, rejectUnauthorized, headers: own } = credentials
  const agent = new Agent({ keepAlive: true, ca, cert, key, servername, rejectUnauthorized })
  const send = target.protocol === 'https:' ? tlsRequest : plainRequest
  const onward = (incoming: { method?: string; url?: string; headers: object }, pooled: boolean) => {
    requests += 1
    const headers = { ...incoming.headers, ...own, host: target.host }
    const { hostname: host, port } = target
    const tls = pooled ? { agent } : { ca, cert, key, servername, rejectUnauthorized, agent: false as const }
    return send({ host, port, method: incoming.method, path: incoming.url, headers, ...tls })
  }
  let trouble: ((turn: number, path: string) => Trouble | undefined) | undefined
  const server = createServer(async (incoming, outgoing) => {
    const cause = trouble?.(requests, incoming.url ?? '')
    if (cause === 'cut') {
      requests += 1
      return outgoing.destroy()
    }
    if (cause !== undefined && 'status' in cause) {
      requests += 1
      return outgoing.writeHead(cause.status, { 'retry-after': String(cause.after) }).end('{}')
    }
    if (cause !== undefined) await sleep(systemClock, cause.delay)
    const sent = onward(incoming, true)
    sent.on('response', answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    })
    sent.on('error', () => outgoing.destroy())
    outgoing.on('close', () => sent.destroy())
    incoming.pipe(sent)
  })
  server.on('upgrade', (incoming, socket: Duplex, head) => {
    const sent = onward(incoming, false)
    sockets.add(socket)
    socket.on('error', () => sent.destroy())
    sent.on('upgrade', (answer, other, rest) => {
      sockets.add(other)
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`)
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
      other.on('error', () => socket.destroy())
      other.write(head)
      socket.write(rest)
      other.pipe(socket).pipe(other)
    })
    sent.on('response', () => socket.destroy())
    sent.on('error', () => socket.destroy())
    sent.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const config = new KubeConfig()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  config.loadFromClusterAndUser({ name: 'counted', server: url, skipTLSVerify: true }, { name: 'bench' })
  return {
    requests: () => requests,
    trouble(cause) {
      trouble = cause
    },
    cutAll: () => server.closeAllConnections(),
    kubeconfig: config.exportConfig(),
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      agent.destroy()
    },
  }
}
