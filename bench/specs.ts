import { once } from 'node:events'
import { createServer } from 'node:http'
import { stringify } from 'yaml'
import { createKnown, readReply } from '../src/broker/registries/read-reply.ts'
import { createSpecCache } from '../src/broker/registries/registered-catalog.ts'
import { systemClock } from '../src/clock.ts'
import type { CatalogChanges, CatalogState } from '../src/domain/catalog-state.ts'
import { reconcile } from '../src/domain/reconcile.ts'
import { readRegistrySettings } from '../src/registry/read-settings.ts'
import { createRegistry } from '../src/registry/types.ts'
import type { Registry } from '../src/registry.ts'
import { fromCode } from '../src/shape/place.ts'
import { applyCatalogChanges } from '../test/domain/apply-catalog-changes.ts'

export const emptyCatalog: CatalogState = { registries: [], services: [], revisions: [] }

/** A list of specs of about 1.5 KB each. */
export function specList(count: number): Buffer {
  return Buffer.from(JSON.stringify(Array.from({ length: count }, (_, index) => specOf(index))))
}

/** One entry of a broker's `registries`. */
export function registryEntry(url: string) {
  return { name: 'bench', type: 'http', url, white_list: ['.*'] }
}

/** The same as YAML, by name: without their images, as they stand in folders. */
export function* plainSpecs(count: number): Generator<readonly [string, string]> {
  for (let index = 0; index < count; index++) {
    const { image: _, ...spec } = specOf(index)
    yield [spec.name, stringify(spec)]
  }
}

export function registryAt(url: string): Registry {
  return registryOf(registryEntry(url))
}

export function registryOf(entry: object): Registry {
  const [settings] = readRegistrySettings(fromCode([entry]), '.').settings ?? []
  if (settings === undefined) throw new Error('the settings of the registry are wrong')
  return createRegistry(settings, { clock: systemClock })
}

/** One sync, without a store. */
export async function sync(
  registry: Registry,
  state: CatalogState,
  now: number,
): Promise<{ readonly state: CatalogState; readonly changes: CatalogChanges }> {
  const answer = await registry.list(new AbortController().signal)
  const known = createKnown({ stored: { version: 1, ...state }, uses: [], own: [], specs: createSpecCache() })
  const reply = await readReply(registry.name, answer, known)
  const { changes } = reconcile({
    now,
    registries: [{ name: registry.name, answer: reply }],
    stored: state,
    uses: new Map(),
    settings: { emptyAfter: 1, retireAfter: 86_400_000 },
  })
  return { state: applyCatalogChanges(state, changes), changes }
}

export interface SpecServer {
  readonly url: string
  stop(): Promise<void>
}

export async function serveSpecs(body: Buffer): Promise<SpecServer> {
  const server = createServer((_, outgoing) => outgoing.end(body)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}/specs.json`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function specOf(index: number) {
  const parameters = Array.from({ length: 6 }, (_, number) => ({
    name: `parameter_${number}`,
    title: `Parameter ${number}`,
    description: 'What it is for, in a few words that a form can show beside it',
    type: 'string',
    default: 'value',
    max_length: 63,
    required: true,
    updatable: number % 2 === 0,
  }))
  const plan = { name: 'small', description: 'A small one', free: true, parameters }
  return {
    version: '1.0',
    name: `service-${index}`,
    description: `Service ${index}`,
    image: `registry.example/team/service-${index}:v1`,
    bindable: true,
    metadata: { displayName: `Service ${index}` },
    plans: [plan],
  }
}
