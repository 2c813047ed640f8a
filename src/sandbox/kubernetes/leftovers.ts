import type { Cluster } from '../../kubernetes/cluster.ts'
import { listAll } from '../../kubernetes/list.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import { type FoundRecord, homeLabel, type Records, type SandboxRecord, sandboxAnnotation } from './records.ts'

/** A removed name stays reserved for this long. */
const anHour = 3_600_000
/** Whoever makes a namespace makes its record in the next call: without one for so long, nobody will. */
const abandonedAfter = 10 * 60_000

export interface Leftovers {
  readonly cluster: Cluster
  readonly records: Records
  readonly home: string
  readonly found: readonly FoundRecord[]
  /** For a removal that was broken off. */
  finishRemoval(record: SandboxRecord): Promise<void>
}

/** Frees names whose hour is over, and takes away what crashes left: namespaces, and what was made in those of others. */
export async function collectLeftovers({ cluster, records, home, found, finishRemoval }: Leftovers): Promise<void> {
  const now = cluster.clock.now()
  const byName = new Map(found.map(each => [each.kind === 'live' ? each.record.name : each.name, each] as const))
  const labels = `${homeLabel}=${home}`

  /** Whether what carries the sandbox's name, and belongs to that namespace, is needed by nobody. */
  function isLeft({ metadata }: KubernetesObject, namespace: string | undefined): boolean {
    const each = byName.get(metadata.annotations?.[sandboxAnnotation] ?? '')
    if (each?.kind === 'live') return each.record.namespace !== namespace
    return each !== undefined || now - Date.parse(metadata.creationTimestamp ?? '') > abandonedAfter
  }

  const namespaces = await listAll<KubernetesObject>(cluster, '/api/v1/namespaces', { labels })
  // One that is on its way out needs us only where its pod waits to be let go.
  const pods = await listAll<KubernetesObject>(cluster, '/api/v1/pods', { labels })
  const waiting = new Set([
    ...namespaces.items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name),
    ...pods.items.map(({ metadata }) => metadata.namespace),
  ])
  for (const each of found)
    if (each.kind === 'removed' && each.record !== undefined && waiting.has(each.record.namespace))
      await finishRemoval(each.record)
  for (const namespace of namespaces.items)
    if (namespace.metadata.deletionTimestamp === undefined && isLeft(namespace, namespace.metadata.name))
      await cluster.remove(`/api/v1/namespaces/${namespace.metadata.name}`, uidOf(namespace))
  for (const [api, plural] of [
    ['/apis/rbac.authorization.k8s.io/v1', 'rolebindings'],
    ['/apis/networking.k8s.io/v1', 'networkpolicies'],
  ] as const)
    for (const object of (await listAll<KubernetesObject>(cluster, `${api}/${plural}`, { labels })).items) {
      const { name, namespace, annotations } = object.metadata
      // What is in the sandbox's own namespace goes with it.
      if (annotations?.[sandboxAnnotation] !== undefined && namespace !== name && isLeft(object, name))
        await cluster.remove(`${api}/namespaces/${namespace}/${plural}/${name}`, uidOf(object))
    }
  for (const each of found) if (each.kind === 'removed' && now - each.at > anHour) await records.forget(each.name)
}

function uidOf({ metadata: { uid } }: KubernetesObject): { readonly uid?: string } {
  return uid === undefined ? {} : { uid }
}
