/** A cluster in memory and in virtual time, for faults and interleavings that a real one cannot be asked for. */
import { type Clock, sleep } from '../../src/clock.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { ClusterUnavailableError, KubernetesError } from '../../src/kubernetes/errors.ts'
import type { FindKind, Kind } from '../../src/kubernetes/kinds.ts'
import type { KubernetesObject, Metadata } from '../../src/kubernetes/objects.ts'

interface FakeOptions {
  readonly clock: Clock
  readonly random: () => number
  /** Called whenever something has changed. */
  readonly onChange: (path: string) => void
}

interface Stored {
  base: { readonly metadata: Metadata }
  /** By field manager. */
  readonly applied: Map<string, KubernetesObject>
}

const clusterWide = new Set(['Namespace'])

export function createFakeCluster({ clock, random, onChange }: FakeOptions) {
  const objects = new Map<string, Stored>()
  let version = 0

  const live = (path: string): KubernetesObject | undefined => {
    const stored = objects.get(path)
    if (stored === undefined) return undefined
    const all = [stored.base, ...stored.applied.values()]
    const labels = Object.assign({}, ...all.map(({ metadata }) => metadata.labels))
    const status = { conditions: [{ type: 'Ready', status: 'True' }] }
    return Object.assign({}, ...all, { status, metadata: { ...stored.base.metadata, labels } })
  }
  const put = (path: string, name: string): Stored => {
    version += 1
    const stored: Stored = { base: { metadata: { name, uid: `u${version}` } }, applied: new Map() }
    objects.set(path, stored)
    return stored
  }

  /** Some calls are late, before or after they have done something, and some answers are lost. */
  async function call(work: () => unknown): Promise<unknown> {
    await sleep(clock, Math.floor(random() * 500))
    if (random() < 0.05) throw new ClusterUnavailableError('it does not answer')
    const answer = work()
    await sleep(clock, Math.floor(random() * 500))
    if (random() < 0.05) throw new ClusterUnavailableError('the answer is lost')
    return answer
  }

  const cluster = {
    namespace: 'default',
    clock,
    call: (
      method: string,
      path: string,
      { body, query }: { body?: KubernetesObject; query?: { fieldManager: string } },
    ) =>
      call(() => {
        if (method === 'GET')
          return { metadata: {}, items: [...objects.keys()].filter(key => key.startsWith(`${path}/`)).map(live) }
        const stored = objects.get(path) ?? put(path, body?.metadata.name ?? '')
        if (body?.metadata.uid !== undefined && body.metadata.uid !== stored.base.metadata.uid)
          throw new KubernetesError(409, 'Conflict', `PATCH ${path}: another one`)
        stored.applied.set(query?.fieldManager ?? '', body ?? { metadata: {} })
        onChange(path)
        return live(path)
      }),
    find: (path: string) => call(() => live(path)),
    remove: (path: string, { uid }: { uid?: string } = {}) =>
      call(() => {
        if (uid !== undefined && objects.get(path)?.base.metadata.uid !== uid) return false
        const was = objects.delete(path)
        onChange(path)
        return was
      }),
  } as unknown as Cluster

  const findKind: FindKind = async ({ apiVersion, kind }): Promise<Kind> => ({
    apiVersion,
    kind,
    namespaced: !clusterWide.has(kind),
    path: (namespace, name) =>
      [
        '',
        apiVersion,
        kind,
        ...(clusterWide.has(kind) ? [] : [namespace ?? '']),
        ...(name === undefined ? [] : [name]),
      ].join('/'),
  })
  return { cluster, findKind, live, put, paths: () => [...objects.keys()] }
}
