import { createOpenAuthenticator } from '../authenticator/open.ts'
import type { Authenticator } from '../authenticator.ts'
import type { BrokerDefinition } from '../author/broker-definition.ts'
import type { BrokerSettings } from '../broker/settings.ts'
import { createOsbClient, type OsbClient } from '../client/index.ts'
import { toFetch } from '../http/fetch.ts'
import { listen } from '../http/node.ts'
import type { Observer } from '../observer.ts'
import { type RegistryOptions, type Runtime, startRuntime } from '../server/runtime.ts'
import { createMemoryStore } from '../store/memory/index.ts'
import type { Store } from '../store.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

/** `in process`: requests are function calls. `socket`: the same application behind a real server on loopback. */
export type Transport = 'in process' | 'socket'

export interface TestBrokerOptions extends BrokerDefinition {
  readonly transport?: Transport
  /** Opened with the clock below; the caller closes it. A new memory store by default. */
  readonly store?: Store
  readonly clock?: VirtualClock
  readonly settings?: Partial<BrokerSettings>
  readonly authenticator?: Authenticator
  readonly observer?: Observer
  readonly random?: () => number
  readonly concurrency?: number
  readonly publicUrl?: string
  readonly registries?: RegistryOptions
}

export interface TestBroker {
  /** A platform that announces 2.17. */
  readonly client: OsbClient
  readonly url: string
  readonly fetch: (request: Request) => Promise<Response>
  readonly clock: VirtualClock
  readonly store: Store
  readonly runtime: Runtime
  /** Another platform, or another version of the API. */
  createClient(options: Partial<Parameters<typeof createOsbClient>[0]>): OsbClient
  /** Stops as a process does: leases go back to the ledger. */
  stop(): Promise<void>
}

/** A whole broker with virtual time, for tests of services, stores and platforms. Time passes with `clock.advance`. */
export async function startTestBroker(options: TestBrokerOptions): Promise<TestBroker> {
  const { transport = 'in process', clock = createVirtualClock() } = options
  const store = options.store ?? createMemoryStore({ clock })
  const runtime = await startRuntime({
    definition: options,
    store,
    clock,
    authenticator: options.authenticator ?? createOpenAuthenticator(),
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    ...(options.observer === undefined ? {} : { observer: options.observer }),
    ...(options.random === undefined ? {} : { random: options.random }),
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    ...(options.registries === undefined ? {} : { registries: options.registries }),
  })
  const server = transport === 'socket' ? await listen({ app: runtime.app, host: '127.0.0.1', port: 0 }) : undefined
  const url = server?.url ?? 'http://broker.test'
  const send = server === undefined ? toFetch(runtime.app) : fetch
  const createClient: TestBroker['createClient'] = more =>
    createOsbClient({ url, fetch: (input, init) => send(new Request(input, init)), ...more })
  return {
    client: createClient({}),
    url,
    fetch: request => send(request),
    clock,
    store,
    runtime,
    createClient,
    async stop() {
      await runtime.stop(0)
      await server?.close(0)
    },
  }
}
