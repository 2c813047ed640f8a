import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { KubeConfig } from '@kubernetes/client-node'

/** What a cluster answers, in turn; the last one again and again. A function may end the connection. */
export type Canned =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | ((request: IncomingMessage, response: ServerResponse) => void)

export interface CannedServer {
  readonly url: string
  readonly requests: readonly string[]
  /** The text of a kubeconfig that leads to it. */
  readonly kubeconfig: string
  close(): Promise<void>
}

/** Injects the faults that a real API server cannot be asked for. */
export async function startCannedServer(answers: readonly Canned[]): Promise<CannedServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)]
    requests.push(`${request.method} ${request.url}`)
    request.resume()
    if (answer === undefined) return response.destroy()
    if (typeof answer === 'function') return answer(request, response)
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(JSON.stringify(answer.body ?? {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = `http://127.0.0.1:${address.port}`
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'canned', server: url, skipTLSVerify: true }, { name: 'nobody' })
  return {
    url,
    requests,
    kubeconfig: config.exportConfig(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
