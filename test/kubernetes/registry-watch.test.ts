import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { KubernetesError } from '../../src/kubernetes/errors.ts'
import { createKinds } from '../../src/kubernetes/kinds.ts'
import { readRegistrySettings } from '../../src/registry/read-settings.ts'
import { createRegistry } from '../../src/registry/types.ts'
import { fromCode } from '../../src/shape/place.ts'
import { type ApiServer, startApiServer, whyNoApiServer } from '../external/kubernetes.ts'
import { createNamespace, defineKind } from './manifests-world.ts'

const reason = whyNoApiServer()

describe.skipIf(reason !== undefined)(
  `the watch of a registry of the cluster${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let server: ApiServer
    let cluster: Cluster
    const stop = new AbortController()
    const watching: unknown[] = []
    beforeAll(async () => {
      server = await startApiServer()
      cluster = await server.connect()
      await defineKind(cluster, 'App')
    })
    afterAll(async () => {
      stop.abort()
      await Promise.all(watching)
      await server?.stop()
    })

    /** Watches one resource that is there from the beginning; `changes` counts what is told. */
    async function open(apiVersion: string, kind: string, by: (path: string) => Partial<Cluster> = () => ({})) {
      const namespace = await createNamespace(cluster)
      const findKind = createKinds(cluster)
      const path = (await findKind({ apiVersion, kind }))?.path(namespace, 'one') ?? ''
      const body = { apiVersion, kind, metadata: { name: 'one' } }
      await cluster.call('POST', path.replace(/\/one$/, ''), { body })
      const entry = { name: 'apps', type: 'kubernetes', apiVersion, kind, namespace, bundle: 'unread' }
      const [settings] = readRegistrySettings(fromCode([entry]), '/').settings ?? []
      if (settings === undefined) throw new Error('no registry')
      const opened = { cluster: { ...cluster, ...by(path) }, findKind }
      const registry = createRegistry(settings, { clock: systemClock, cluster: async () => opened })
      const seen = { changes: 0 }
      const tell = () => {
        seen.changes += 1
      }
      watching.push(registry.watch?.(tell, stop.signal))
      await expect.poll(() => seen.changes, { timeout: 60_000 }).toBeGreaterThan(0)
      const patch = (change: object, at = path) =>
        cluster.call('PATCH', at, { body: change, contentType: 'application/merge-patch+json' })
      return { path, seen, patch }
    }

    it('tells of a change where a kind counts none', async () => {
      const { seen, patch } = await open('v1', 'ConfigMap')
      await patch({ data: { a: '1' } })
      await expect.poll(() => seen.changes, { timeout: 60_000 }).toBe(2)
    })

    it('tells of fields, labels and annotations, and not of a status', async () => {
      const { path, seen, patch } = await open('example.com/v1', 'App')
      await patch({ status: { ready: true } }, `${path}/status`)
      await patch({ spec: { a: 1 } })
      await expect.poll(() => seen.changes, { timeout: 60_000 }).toBe(2)
      await patch({ metadata: { labels: { a: 'b' } } })
      await expect.poll(() => seen.changes, { timeout: 60_000 }).toBe(3)
      await patch({ metadata: { annotations: { a: 'b' } } })
      await expect.poll(() => seen.changes, { timeout: 60_000 }).toBe(4)
    })

    it('tells of what went while nobody looked', async () => {
      let tries = 0
      const { seen } = await open('v1', 'ConfigMap', path => ({
        async stream(...args) {
          tries += 1
          if (tries > 1) return cluster.stream(...args)
          await cluster.remove(path)
          throw new KubernetesError(410, 'Expired', 'too old resource version')
        },
      }))
      await expect.poll(() => seen.changes, { timeout: 60_000 }).toBe(2)
    })
  },
)
