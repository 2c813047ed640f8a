import { afterEach, describe, it } from 'vitest'
import { silent } from '../../src/observer.ts'
import {
  startTestBroker,
  type TestBroker,
  type TestBrokerOptions,
  type Transport,
} from '../../src/testing/test-broker.ts'
import { type Backend, createBackend } from './backend.ts'
import { createServices } from './services.ts'

/** What a conformance test works with: a platform's client, the broker behind it, and the hands on its backend. */
export interface Platform extends TestBroker {
  readonly backend: Backend
  /** A raw request, for what no client would send. Headers given as undefined are left out. */
  request(
    method: string,
    path: string,
    options?: { readonly headers?: Record<string, string | undefined>; readonly body?: unknown },
  ): Promise<{
    readonly status: number
    readonly headers: Headers
    readonly text: string
    readonly body: Record<string, unknown>
  }>
  /** Polls an instance (or a binding) until its last operation has ended, and answers the last poll's body. */
  ended(instanceId: string, bindingId?: string, operation?: string): Promise<Record<string, unknown>>
}

export type Setup = Partial<Omit<TestBrokerOptions, 'transport'>>

const running = new Set<TestBroker>()

/**
 * One requirement, or several that one scenario shows: a test per id whose name starts with it, in process and once more
 * over a real socket.
 */
export function requirement(
  ids: string | readonly string[],
  title: string,
  run: (platform: Platform) => Promise<void>,
  setup: Setup = {},
): void {
  for (const id of typeof ids === 'string' ? [ids] : ids)
    for (const transport of ['in process', 'socket'] as const)
      it(`${id} ${title} (${transport})`, async () => run(await startPlatform(transport, setup)))
}

/** The same for a whole file: stops every broker a test has started. */
export function conformance(area: string, tests: () => void): void {
  describe(area, () => {
    afterEach(async () => {
      for (const broker of running) await stopped(broker)
      running.clear()
    })
    tests()
  })
}

/** Stops a broker in the middle of its work, which goes back to the ledger. */
export async function stopped(broker: TestBroker): Promise<void> {
  let over = false
  const stopping = broker.stop().finally(() => {
    over = true
  })
  // Even a grace of no time is a timer, and time stands still unless it is moved.
  while (!over) await broker.clock.advance(0)
  await stopping
}

export async function startPlatform(transport: Transport, setup: Setup = {}): Promise<Platform> {
  const backend = createBackend()
  const broker = await startTestBroker({ services: createServices(backend), observer: silent, ...setup, transport })
  running.add(broker)
  return {
    ...broker,
    backend,
    async request(method, path, { headers = {}, body } = {}) {
      const sent = { 'x-broker-api-version': '2.17', 'content-type': 'application/json', ...headers }
      const entries = Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== undefined)
      const payload = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
      const response = await broker.fetch(new Request(broker.url + path, { method, headers: entries, ...payload }))
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: text === '' ? {} : JSON.parse(text) }
    },
    async ended(instanceId, bindingId, operation) {
      const query = operation === undefined ? {} : { operation }
      for (let poll = 0; poll < 1_000; poll++) {
        const { body, status } =
          bindingId === undefined
            ? await broker.client.lastOperation(instanceId, query)
            : await broker.client.lastBindingOperation(instanceId, bindingId, query)
        if (status !== 200) throw new Error(`the poll was answered ${status}`)
        if (body.state !== 'in progress') return body as unknown as Record<string, unknown>
        await broker.clock.advance(1_000)
      }
      throw new Error('the operation did not end')
    },
  }
}
