/** A broker with one service of manifests, which a registry lists, on a real API server; its ledger can be put back. */
import { createLedgerId } from '../../src/broker/ledger-id.ts'
import type { OsbResponse } from '../../src/client/index.ts'
import { sleep, systemClock } from '../../src/clock.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { createKinds } from '../../src/kubernetes/kinds.ts'
import { silent } from '../../src/observer.ts'
import type { Registry } from '../../src/registry.ts'
import { openManifests } from '../../src/running/bundles/manifests.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Operation, Store } from '../../src/store.ts'
import { startTestBrokerWith, type TestBroker } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { exported, imported } from '../moving/rich-ledger.ts'
import { adminOf } from '../verbs/admin.ts'
import { anything, asynchronous, createNamespace } from './manifests-world.ts'

export type OrphanWorld = Awaited<ReturnType<typeof createOrphanWorld>>

export async function createOrphanWorld(cluster: Cluster, source: string) {
  // The cluster's time is real, and so objects have a real age.
  const clock = createVirtualClock(Date.now())
  const newStore = () => createMemoryStore({ clock })
  const namespace = await createNamespace(cluster)
  const brokers: TestBroker[] = []
  let underWay = 0
  let listed = source

  const registry: Registry = {
    ...{ name: 'test', type: 'test' },
    async list() {
      const found = { name: 'greeter', image: '', tag: '', digest: listed, source: listed, runtime: 2 as const }
      return { kind: 'complete', found: [found], problems: [], warnings: [] }
    },
  }

  async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
    for (;;) {
      const answer = await ask()
      if (answer !== undefined && answer !== false) return answer
      // A call is not late because the machine is slow.
      if (underWay === 0) await clock.advance(1_000)
      await sleep(systemClock, 5)
    }
  }

  async function start({ store = newStore() as Store, by = cluster } = {}) {
    const counted = counting(by, change => {
      underWay += change
    })
    const opened = { cluster: counted, findKind: createKinds(counted) }
    const manifests = openManifests(
      { manifests: { ...anything, watch: false } },
      {
        ...{ clock, open: async () => opened, storeNow: () => clock.now(), secretsFor: async () => [] },
        brokerId: createLedgerId(store),
      },
    )
    const broker = await startTestBrokerWith(
      {
        ...{ services: [], clock, store, random: () => 0.5, observer: silent },
        settings: {
          engine: { pollInterval: '1h', timeouts: { provision: '1h', deprovision: '1h', unbind: '1h' } },
          orphans: { minimumAge: '10m' },
          chores: { survey: '-', batches: '-', purge: '-', expiry: '-', observe: '-', sync: '@hourly' },
        },
      },
      {
        registries: {
          registries: [registry],
          drive: manifests.drive,
          given: async () => [],
          onCatalog: async revisions => manifests.look(revisions),
        },
      },
    )
    brokers.push(broker)
    const { client } = broker
    const catalog = () => client.catalog().then(({ body }) => body.services ?? [])
    const [service] = await until(async () => {
      const services = await catalog()
      return services.length > 0 && services
    })
    const ids = { service_id: service?.id ?? '', plan_id: service?.plans?.[0]?.id ?? '' }
    const request = { ...ids, organization_guid: 'o', space_guid: 's', context: { platform: 'kubernetes', namespace } }
    const ended = (id: string | null | undefined): Promise<Operation> =>
      until(async () => {
        const operation = await store.operation(id ?? '')
        if (operation === undefined) throw new Error(`there is no operation ${id}`)
        return operation.finishedAt === undefined ? undefined : operation
      })
    const finished = async (answer: Promise<OsbResponse<{ readonly operation?: string | null }>>) =>
      (await ended((await answer).body.operation)).state
    const admin = adminOf(broker)
    return {
      ...{ store, client, admin, request, ids, ended, finished, catalog },
      provision: (id: string) => finished(client.provision(id, request, asynchronous)),
      bind: (id: string, binding: string) => finished(client.bind(id, binding, ids, asynchronous)),
      async report() {
        const { status, body } = await admin.orphans()
        if (status !== 200) throw new Error(JSON.stringify(body))
        return (body.items ?? [])
          .map(({ kind, instance_id, binding_id, removable, reason }) => [
            kind,
            [instance_id, binding_id].filter(Boolean).join('/'),
            removable ? 'go' : reason,
          ])
          .toSorted()
      },
      /** Removes what can be, and waits for it. */
      async fix() {
        const { status, body } = await admin.removeOrphans({ reason: 'left by the outage' })
        if (status !== 200) throw new Error(JSON.stringify(body))
        const begun = (body.items ?? []).flatMap(({ operation }) => operation ?? [])
        const operations: Operation[] = []
        for (const id of begun) operations.push(await ended(id))
        return { items: body.items ?? [], operations }
      },
    }
  }

  return {
    ...{ clock, namespace, start, until },
    /** What the registry lists from now on. */
    list(spec: string) {
      listed = spec
    },
    /** A new ledger, as this one is now. */
    async backUp(store: Store) {
      const file = await exported(store)
      return async (): Promise<Store> => {
        const target = newStore()
        await imported(target, file)
        return target
      }
    },
    async exists(resource: string): Promise<boolean> {
      const [plural, name] = resource.split('/')
      const found = await cluster.find(`/api/v1/namespaces/${namespace}/${plural}/${name}`)
      return found !== undefined
    },
    async stop() {
      for (const broker of brokers) await broker.stop()
    },
  }
}

/** Tells of each call that begins and ends. */
function counting(cluster: Cluster, tell: (change: 1 | -1) => void): Cluster {
  const counted =
    <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      tell(1)
      return work(...args).finally(() => tell(-1))
    }
  return {
    ...cluster,
    call: counted(cluster.call),
    find: counted(cluster.find),
    remove: counted(cluster.remove),
  } as Cluster
}
