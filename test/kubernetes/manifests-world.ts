/** A broker with one service of manifests on a real API server; the broker's time is virtual, the cluster's is real. */
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { parseBundleSpec } from '../../src/bundle/spec.ts'
import { toOffering } from '../../src/bundle/to-offering.ts'
import type { OsbResponse } from '../../src/client/index.ts'
import { type Clock, sleep, systemClock } from '../../src/clock.ts'
import type { Revision } from '../../src/domain/revision.ts'
import { createManifestsDriver, keptBy } from '../../src/driver/manifests/manifests-driver.ts'
import type { ManifestParts } from '../../src/driver/manifests/parts.ts'
import { createDriftWatch } from '../../src/driver/manifests/watch-drift.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { createKinds } from '../../src/kubernetes/kinds.ts'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { createRedactor } from '../../src/sensitive/redact.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Operation, Store } from '../../src/store.ts'
import { startTestBrokerWith, type TestBroker } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { type ApiServer, startApiServer } from '../external/kubernetes.ts'

export const asynchronous = { acceptsIncomplete: true }

/** Pauses of the watch are a hundredth of what they are. */
export const hasty: Clock = {
  now: () => systemClock.now(),
  after: (ms, callback) => systemClock.after(ms / 100, callback),
}

export interface ManifestWorldOptions {
  readonly spec: string
  readonly cluster: Cluster
  readonly limits?: ManifestParts['limits']
  readonly secrets?: JsonObject
  /** What others change is seen at once. */
  readonly watch?: boolean
  readonly timeouts?: Partial<Record<'provision' | 'deprovision' | 'update' | 'bind' | 'unbind', number>>
}

export type ManifestWorld = Awaited<ReturnType<typeof createManifestWorld>>

export const anything = { namespaces: ['*'], kinds: ['*', 'v1/Namespace'] }

export function revisionOf(source: string): {
  revision: Revision
  spec: NonNullable<ReturnType<typeof parseBundleSpec>['spec']>
} {
  const { spec, problems } = parseBundleSpec(source, 'bundle.yml')
  if (spec === undefined) throw new Error(JSON.stringify(problems))
  const offering = toOffering(spec, { registry: 'test' })
  const revision = {
    ...{ id: 'r', serviceId: offering.id, fullName: offering.name, registry: 'test', foundAs: spec.name },
    ...{ image: '', tag: '', digest: 'd', source, runtime: 2 as const, offering, firstSeenAt: 0 },
  }
  return { revision, spec }
}

export async function createNamespace(cluster: Cluster, prefix = 'team'): Promise<string> {
  const name = `${prefix}-${randomBytes(4).toString('hex')}`
  await cluster.call('POST', '/api/v1/namespaces', { body: { metadata: { name } } })
  return name
}

export async function createManifestWorld(options: ManifestWorldOptions) {
  const { cluster, limits = anything } = options
  const namespace = await createNamespace(cluster)
  const clock = createVirtualClock()
  const memory = createMemoryStore({ clock })
  const { revision } = revisionOf(options.spec)
  const { offering } = revision
  const calls = { underWay: 0, made: 0, watches: 0 }
  const brokers: TestBroker[] = []
  const label = randomBytes(6).toString('hex')

  /** With another spec it is the broker after a sync: the same service, and PATCHes move to what is new of it. */
  async function start({ by = cluster, store = memory as Store, source = options.spec } = {}): Promise<TestBroker> {
    const { revision, spec } = revisionOf(source)
    const counted = count(by, calls)
    const opened = { cluster: counted, findKind: createKinds(counted) }
    const parts: ManifestParts = {
      open: async () => opened,
      limits,
      createRedactor,
      storeNow: () => clock.now(),
      brokerId: async () => label,
      kinds: () => keptBy(spec),
      secretsFor: async () => [{ name: 'operator', entries: options.secrets ?? {} }],
    }
    const drive = createManifestsDriver(parts)
    const { open, brokerId } = parts
    const watch = createDriftWatch({ open, brokerId, clock: hasty, kinds: () => keptBy(spec) })
    const registries = { registries: [], drive, given: async () => [], onCatalog: async () => {}, watch }
    const broker = await startTestBrokerWith(
      {
        services: [drive(revision, spec)],
        ...{ clock, store, random: () => 0.5 },
        settings: { engine: { timeouts: { provision: '1h', deprovision: '1h', update: '1h', ...options.timeouts } } },
      },
      options.watch === true ? { registries } : undefined,
    )
    if (store === memory) brokers.push(broker)
    return broker
  }

  async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
    for (;;) {
      const answer = await ask()
      if (answer !== undefined && answer !== false) return answer
      // A call is not late because the machine is slow.
      if (calls.underWay === 0) await clock.advance(1_000)
      await sleep(systemClock, 5)
    }
  }

  const ended = (answer: OsbResponse<{ readonly operation?: string | null }>): Promise<Operation> =>
    until(async () => {
      const operation = await memory.operation(answer.body.operation ?? '')
      if (operation === undefined) throw new Error(`no operation: ${JSON.stringify(answer.body)}`)
      return operation.finishedAt === undefined ? undefined : operation
    })

  const ids = (plan = 0) => ({ service_id: offering.id, plan_id: offering.plans[plan]?.id ?? '' })
  const place = { organization_guid: 'org', space_guid: 'space', context: { platform: 'kubernetes', namespace } }
  return {
    ...{ clock, store: memory, revision, namespace, start, until, ended, ids, place, calls, label },
    request: (parameters: JsonObject = {}) => ({ ...ids(), ...place, parameters }),
    async provision({ client }: TestBroker, id: string, parameters: JsonObject = {}): Promise<Operation> {
      return ended(await client.provision(id, { ...ids(), ...place, parameters }, asynchronous))
    },
    async deprovision({ client }: TestBroker, id: string): Promise<Operation> {
      return ended(await client.deprovision(id, ids(), asynchronous))
    },
    get: (path: string) => cluster.find<KubernetesObject & JsonObject>(path.replace('$ns', namespace)),
    /** What the broker thinks of the health of an instance, after one more look. */
    async observed(id: string, isIt: (ready: boolean) => boolean = () => true) {
      const before = (await memory.instance(id))?.conditions[0]?.observedAt ?? 0
      return until(async () => {
        const [ready] = (await memory.instance(id))?.conditions ?? []
        return ready !== undefined && ready.observedAt > before && isIt(ready.status) ? ready : undefined
      })
    },
    async stop() {
      for (const broker of brokers) await broker.stop()
    },
  }
}

/** Defines a kind of custom resources of the group `example.com`, of any form and with a status. The last version is stored. */
export async function defineKind(cluster: Cluster, kind: string, versions: readonly string[] = ['v1']): Promise<void> {
  const [group, plural] = ['example.com', `${kind.toLowerCase()}s`]
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const served = versions.map((name, at) => ({ name, served: true, storage: at === versions.length - 1 }))
  const body = {
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { kind, plural, singular: kind.toLowerCase() } },
      versions: served.map(version => ({ ...version, schema, subresources: { status: {} } })),
    },
  }
  await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body })
  const findKind = createKinds(cluster)
  for (const version of versions)
    while ((await findKind({ apiVersion: `${group}/${version}`, kind })) === undefined) await sleep(systemClock, 100)
}

/** Counts what is asked, and what is not answered yet. */
function count(cluster: Cluster, calls: { underWay: number; made: number; watches: number }): Cluster {
  const counting =
    <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      calls.underWay += 1
      calls.made += 1
      try {
        return await work(...args)
      } finally {
        calls.underWay -= 1
      }
    }
  return {
    ...cluster,
    call: counting(cluster.call),
    find: counting(cluster.find),
    remove: counting(cluster.remove),
    async stream(...args: Parameters<Cluster['stream']>) {
      const answer = await cluster.stream(...args)
      calls.watches += 1
      return answer
    },
  } as Cluster
}

export function useManifestWorlds(spec: string) {
  return useWorlds((cluster, options: Partial<ManifestWorldOptions> = {}) =>
    createManifestWorld({ spec, cluster, ...options }),
  )
}

/** One API server for the tests of a suite, and worlds on it that end with their test. */
export function useWorlds<World extends { stop(): Promise<void> }, Options extends readonly unknown[]>(
  create: (cluster: Cluster, ...options: Options) => Promise<World>,
) {
  let server: ApiServer
  let cluster: Cluster
  const worlds: World[] = []
  beforeAll(async () => {
    server = await startApiServer()
    cluster = await server.connect()
  })
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.stop()
  })
  afterAll(() => server?.stop())
  return {
    server: () => server,
    cluster: () => cluster,
    async open(...options: Options): Promise<World> {
      const world = await create(cluster, ...options)
      worlds.push(world)
      return world
    },
  }
}
