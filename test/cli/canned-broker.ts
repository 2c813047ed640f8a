import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface SeenRequest {
  readonly method: string
  /** Path and query as they came. */
  readonly url: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

export interface CannedAnswer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** Sent as it is, instead of `body`. */
  readonly text?: string
}

/** `'hang up'` closes the connection without an answer, `'hang'` leaves it open. */
type Canned = CannedAnswer | 'hang up' | 'hang'

/** Answers in turn; the last one is repeated. */
export type CannedAnswers = Readonly<Record<string, Canned | readonly Canned[]>>

export interface CannedBroker {
  readonly url: string
  readonly requests: readonly SeenRequest[]
  /** `METHOD path` of each request, in order. */
  readonly calls: readonly string[]
}

/** A real HTTP server that plays a broker: answers by `METHOD /path`, without the query. It goes with the test. */
export async function startCannedBroker(answers: CannedAnswers): Promise<CannedBroker> {
  const requests: SeenRequest[] = []
  const used = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    const url = new URL(request.url ?? '/', 'http://broker')
    const method = request.method ?? ''
    requests.push({
      method,
      url: request.url ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    })
    const key = `${method} ${url.pathname}`
    const turn = used.get(key) ?? 0
    used.set(key, turn + 1)
    const answer = [answers[key] ?? { status: 404, body: { description: `nothing canned for ${key}` } }].flat()
    const chosen = answer[Math.min(turn, answer.length - 1)]
    if (chosen === 'hang') return
    if (chosen === undefined || chosen === 'hang up') {
      request.socket.destroy()
      return
    }
    response.writeHead(chosen.status, { 'content-type': 'application/json', ...chosen.headers })
    response.end(chosen.text ?? JSON.stringify(chosen.body ?? {}))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get calls() {
      return requests.map(({ method, path }) => `${method} ${path}`)
    },
  }
}

/** A port on which nothing listens. */
export async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

export const catalog = {
  services: [
    {
      id: 'service-1',
      name: 'postgres',
      description: 'A PostgreSQL database',
      bindable: true,
      plan_updateable: true,
      plans: [
        { id: 'plan-1', name: 'small', description: 'Shared server' },
        { id: 'plan-2', name: 'large', description: 'Own server', free: false, maximum_polling_duration: 60 },
      ],
    },
    {
      id: 'service-2',
      name: 'cache',
      description: 'A cache',
      bindable: false,
      instances_retrievable: true,
      plans: [{ id: 'plan-3', name: 'tiny', description: 'One megabyte' }],
    },
  ],
}
