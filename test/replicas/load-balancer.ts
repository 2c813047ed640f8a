/** A load balancer as platforms have one: asks every replica whether it is ready, and sends to those that are, in turn. */
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { onTestFinished } from 'vitest'

/** How often `/readyz` is asked. */
const probeMs = 100

export interface LoadBalancer {
  readonly url: string
  /** Those that a request may be sent to now. */
  readonly ready: ReadonlySet<string>
  /** What a replica did not answer: refused connections, and those that were cut. Nothing is sent twice. */
  readonly failures: readonly string[]
  add(url: string): void
}

export async function startLoadBalancer(): Promise<LoadBalancer> {
  const agent = new Agent({ keepAlive: true })
  const targets = new Set<string>()
  const ready = new Set<string>()
  const failures: string[] = []
  let turn = 0

  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const choice = [...ready]
    const target = choice[turn++ % choice.length]
    if (target === undefined) {
      response.writeHead(503).end()
      return
    }
    const { method, url, headers } = request
    const passed = send(new URL(url ?? '/', target), { method, headers, agent })
    passed.on('response', answer => {
      const { connection: _, ...fields } = answer.headers
      response.writeHead(answer.statusCode ?? 502, fields)
      pipeline(answer, response, () => {})
    })
    passed.on('error', error => {
      failures.push(`${method} ${url} to ${target}: ${error.message}`)
      response.destroy()
    })
    pipeline(request, passed, () => {})
  }

  const probe = async (target: string): Promise<void> => {
    const { ok } = await fetch(`${target}/readyz`).catch(() => ({ ok: false }))
    if (ok) ready.add(target)
    else ready.delete(target)
  }
  const timer = setInterval(() => void Promise.all([...targets].map(probe)), probeMs)

  const server = createServer({ keepAliveTimeout: 0 }, forward)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    clearInterval(timer)
    agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, ready, failures, add: url => void targets.add(url) }
}
