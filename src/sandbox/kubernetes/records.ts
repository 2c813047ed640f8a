/**
 * What the broker remembers of its sandboxes: a ConfigMap for each, in its own namespace. It names the namespace that the
 * sandbox is in, whose name the cluster has made up and nobody can make again. That is what makes removing final: a starter that
 * was held up can create nothing in a namespace that is gone, and the record keeps it from having another one.
 */
import type { Cluster } from '../../kubernetes/cluster.ts'
import { isStatus } from '../../kubernetes/errors.ts'
import { listAll } from '../../kubernetes/list.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import type { SandboxStatus } from '../../sandbox.ts'

/** On everything of ours outside of a sandbox's namespace, and on that namespace; its value is the broker's namespace. */
export const homeLabel = 'purser.dev/home'
export const sandboxAnnotation = 'purser.dev/sandbox'
const recordLabel = 'purser.dev/record'

export type RefusedStatus = Extract<SandboxStatus, { readonly kind: 'refused' }>

export interface SandboxRecord {
  readonly name: string
  readonly home: string
  readonly namespace: string
  /** The namespace that the service is for. */
  readonly target?: string | undefined
  /** The full name of the bundle. */
  readonly bundle?: string | undefined
  readonly labels: Readonly<Record<string, string>>
  readonly createdAt: number
  /** Milliseconds that it may run, and bytes that it may print. */
  readonly time: number
  readonly output?: number | undefined
  /** Its credentials have to be fetched while it runs. */
  readonly keepsCredentials?: boolean | undefined
  /** Why it was never started, and never will be; and what the cluster says about it. */
  readonly refused?: { readonly status: RefusedStatus; readonly detail: string } | undefined
}

export type FoundRecord =
  | { readonly kind: 'live'; readonly record: SandboxRecord }
  | {
      readonly kind: 'removed'
      readonly name: string
      readonly at: number
      readonly record?: SandboxRecord | undefined
    }

interface RecordMap extends KubernetesObject {
  readonly data: { readonly record?: string; readonly removedAt?: string }
}

export type Records = ReturnType<typeof createRecords>

export function createRecords(cluster: Cluster, home: string) {
  const maps = `/api/v1/namespaces/${home}/configmaps`
  const pathOf = (name: string) => `${maps}/purser-${name}`
  const labels = { [recordLabel]: 'sandbox', [homeLabel]: home }
  const toBody = (name: string, data: RecordMap['data']): RecordMap => ({
    metadata: { name: `purser-${name}`, labels, annotations: { [sandboxAnnotation]: name } },
    data,
  })

  async function create(name: string, data: RecordMap['data']): Promise<boolean> {
    try {
      await cluster.call('POST', maps, { body: toBody(name, data) })
      return true
    } catch (error) {
      if (isStatus(error, 409)) return false
      throw error
    }
  }

  async function find(name: string): Promise<FoundRecord | undefined> {
    const found = await cluster.find<RecordMap>(pathOf(name))
    return found && toFound(found)
  }

  return {
    find,

    /** False where the name has a record already. */
    create: (record: SandboxRecord) => create(record.name, { record: JSON.stringify(record) }),

    /** Whatever there was, the name is removed now. Answers what there was. */
    async remove(name: string, now: number): Promise<SandboxRecord | undefined> {
      const data = { removedAt: String(now) }
      for (;;) {
        try {
          const options = { body: { data }, contentType: 'application/merge-patch+json' }
          const { record } = (await cluster.call<RecordMap>('PATCH', pathOf(name), options)).data
          return record === undefined ? undefined : JSON.parse(record)
        } catch (error) {
          if (!isStatus(error, 404)) throw error
          // It was never there, or its hour is over.
          if (await create(name, data)) return undefined
        }
      }
    },

    /** The first reason is kept. */
    async refuse(name: string, refused: SandboxRecord['refused']): Promise<void> {
      await cluster.update<RecordMap>(pathOf(name), found => {
        const record: SandboxRecord | undefined = found.data.record && JSON.parse(found.data.record)
        if (record === undefined || record.refused !== undefined) return undefined
        return { ...found, data: { ...found.data, record: JSON.stringify({ ...record, refused }) } }
      })
    },

    async list(): Promise<readonly FoundRecord[]> {
      const { items } = await listAll<RecordMap>(cluster, maps, { labels: `${recordLabel}=sandbox` })
      return items.map(toFound)
    },

    /** The name is free again. */
    forget: (name: string) => cluster.remove(pathOf(name)),
  }
}

function toFound({ metadata, data }: RecordMap): FoundRecord {
  const record: SandboxRecord | undefined = data.record && JSON.parse(data.record)
  if (data.removedAt === undefined && record !== undefined) return { kind: 'live', record }
  return {
    kind: 'removed',
    name: metadata.annotations?.[sandboxAnnotation] ?? '',
    at: Number(data.removedAt ?? 0),
    record,
  }
}
