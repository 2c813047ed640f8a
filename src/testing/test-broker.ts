import { createOpenAuthenticator } from '../authenticator/open.ts'
import type { BrokerDefinition } from '../author/broker-definition.ts'
import { createOsbClient, type OsbClient } from '../client/index.ts'
import { type BrokerOptions, type BrokerParts, openBroker } from '../create-broker.ts'
import type { HttpApp } from '../http/message.ts'
import { listen } from '../http/node.ts'
import { createMemoryStore } from '../store/memory/index.ts'
import type { Store } from '../store.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

/** `in process`: requests are function calls. `socket`: the same application behind a real server on loopback. */
export type Transport = 'in process' | 'socket'

export interface TestBrokerOptions extends BrokerDefinition, Pick<BrokerOptions, 'observer' | 'settings'> {
  readonly transport?: Transport
  /** Opened with the clock below; the caller closes it. A new memory store by default. */
  readonly store?: Store
  readonly clock?: VirtualClock
  /** Lets everybody in unless told otherwise, under any name. */
  readonly authenticator?: BrokerOptions['authenticator']
  readonly random?: () => number
}

export interface TestBroker {
  /** A platform that announces 2.17. */
  readonly client: OsbClient
  readonly url: string
  readonly fetch: (request: Request) => Promise<Response>
  readonly clock: VirtualClock
  readonly store: Store
  /** For an adapter, or a server of one's own. */
  readonly handle: HttpApp
  /** What the check of the catalog complained of. */
  readonly catalogWarnings: readonly string[]
  /** Another platform, or another version of the API. */
  createClient(options: Partial<Parameters<typeof createOsbClient>[0]>): OsbClient
  /** Stops as a process does: after the grace (none by default), leases go back to the ledger. */
  stop(graceMs?: number): Promise<void>
}

/** A whole broker with virtual time, for tests of services, stores and platforms. Time passes with `clock.advance`. */
export function startTestBroker(options: TestBrokerOptions): Promise<TestBroker> {
  return startTestBrokerWith(options)
}

/** The same, with services that come from registries, or as a replica that does no work (`concurrency: 0`). */
export async function startTestBrokerWith(
  options: TestBrokerOptions,
  parts?: Pick<BrokerParts, 'registries' | 'concurrency'>,
): Promise<TestBroker> {
  const { transport = 'in process', clock = createVirtualClock() } = options
  const store = options.store ?? createMemoryStore({ clock })
  const { authenticator = createOpenAuthenticator(), observer, settings, random } = options
  const { services, catalog, hooks, routes, presentCatalog } = options
  const broker = openBroker(
    { services, catalog, hooks, routes, presentCatalog },
    { store, authenticator, observer, settings, clock },
    { random, ...parts },
  )
  const { context } = await broker.running()
  const server =
    transport === 'socket' ? await listen({ app: broker.handle, host: '127.0.0.1', port: 0, observer }) : undefined
  const url = server?.url ?? 'http://broker.test'
  const send = server === undefined ? broker.fetch : fetch
  const createClient: TestBroker['createClient'] = more =>
    createOsbClient({ url, fetch: (input, init) => send(new Request(input, init)), ...more })
  return {
    client: createClient({}),
    url,
    fetch: request => send(request),
    clock,
    store,
    handle: broker.handle,
    catalogWarnings: context.services.warnings,
    createClient,
    async stop(graceMs = 0) {
      await broker.close(graceMs)
      await server?.close(0)
    },
  }
}
