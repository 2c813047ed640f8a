import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Drifted } from '../../src/domain/decide-observe.ts'
import { createDriftWatch } from '../../src/driver/manifests/watch-drift.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { createKinds } from '../../src/kubernetes/kinds.ts'
import { createClusterSecrets } from '../../src/running/bundles/cluster-secrets.ts'
import { type ApiServer, startApiServer, whyNoApiServer } from '../external/kubernetes.ts'
import { connectThrough, startApiCounter } from './api-counter.ts'
import { createManifestWorld, createNamespace, hasty } from './manifests-world.ts'

const reason = whyNoApiServer()

const spec = `
version: 1.0
name: one
description: One config map
plans: [{ name: small, description: small }]
manifests:
  provision:
    - name: only
      object: { apiVersion: v1, kind: ConfigMap, metadata: { name: only }, data: { a: "1" } }
`

describe.skipIf(reason !== undefined)(`what others do${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  let server: ApiServer
  let cluster: Cluster
  beforeAll(async () => {
    server = await startApiServer()
    cluster = await server.connect()
  })
  afterAll(() => server?.stop())

  it('to an object of an instance is seen at once; what is none of our fields is not', async () => {
    const world = await createManifestWorld({ spec, cluster })
    const broker = await world.start()
    await world.provision(broker, 'i')
    const opened = { cluster, findKind: createKinds(cluster) }
    const stop = new AbortController()
    const seen: Drifted[] = []
    const watch = createDriftWatch({
      ...{ open: async () => opened, clock: hasty, brokerId: async () => world.label },
      kinds: () => [{ mode: 'object', apiVersion: 'v1', kind: 'ConfigMap' }],
    })
    const watching = watch(async drifted => void seen.push(drifted), stop.signal)
    const path = `/api/v1/namespaces/${world.namespace}/configmaps/only`
    const change = (data: object) =>
      cluster.call('PATCH', path, { body: { data }, contentType: 'application/merge-patch+json' })
    // Changed until the watch is there: the first list only says how things are.
    await expect
      .poll(async () => {
        await change({ a: String(Math.random()) })
        await world.observed('i')
        return seen.length
      })
      .toBeGreaterThan(0)
    const before = seen.length
    await change({ theirs: 'x' })
    await cluster.remove(path)
    await expect.poll(() => seen.length).toBe(before + 1)
    expect(seen.every(one => 'instanceId' in one && one.instanceId === 'i')).toBe(true)
    stop.abort()
    await watching
    await world.stop()
  })

  it('while a watch had expired is seen afterwards, and the server is not asked without end', async () => {
    const world = await createManifestWorld({ spec, cluster })
    const broker = await world.start()
    await world.provision(broker, 'i')
    const api = await startApiCounter(cluster)
    const fronted = await connectThrough(api)
    let phase: 'watch' | 'cut' | 'expired' | 'on' = 'watch'
    let watches = 0
    api.trouble((_turn, path) => {
      if (!path.includes('watch=true')) return undefined
      watches += 1
      if (phase === 'expired' && watches < 3) return { status: 410, after: 0 }
      return phase === 'cut' ? 'cut' : undefined
    })
    const stop = new AbortController()
    const seen: Drifted[] = []
    const watch = createDriftWatch({
      ...{ open: async () => ({ cluster: fronted, findKind: createKinds(fronted) }), clock: hasty },
      ...{ brokerId: async () => world.label, kinds: () => [{ mode: 'object', apiVersion: 'v1', kind: 'ConfigMap' }] },
    })
    const watching = watch(async drifted => void seen.push(drifted), stop.signal)
    await expect.poll(() => watches, { timeout: 60_000 }).toBe(1)
    // Nobody looks while it is deleted, and the version that was seen last is gone then.
    phase = 'cut'
    api.cutAll()
    await cluster.remove(`/api/v1/namespaces/${world.namespace}/configmaps/only`)
    watches = 0
    phase = 'expired'
    await expect.poll(() => seen, { timeout: 60_000 }).toEqual([{ instanceId: 'i' }])
    await expect.poll(() => watches, { timeout: 60_000 }).toBe(3)
    expect(api.requests()).toBeLessThan(30)
    stop.abort()
    await watching
    await api.stop()
    await world.stop()
  })

  it('Secrets of the API are read as those of a folder are', async () => {
    const namespace = await createNamespace(cluster)
    const stringData = { username: 'robot', password: 'sesame\n' }
    await cluster.call('POST', `/api/v1/namespaces/${namespace}/secrets`, {
      body: { metadata: { name: 'login' }, stringData },
    })
    const opened = { cluster, findKind: createKinds(cluster) }
    const reader = createClusterSecrets(async () => opened, namespace)
    const { signal } = new AbortController()
    expect(await reader.read('login', signal)).toEqual({ username: 'robot', password: 'sesame' })
    expect(await reader.read('none', signal)).toBeUndefined()
    expect(await reader.read('../secrets', signal)).toBeUndefined()
    const broken = createClusterSecrets(async () => Promise.reject(new Error('no cluster')), namespace)
    await expect(broken.read('login', signal)).rejects.toThrow('the Secret "login" cannot be read from the cluster')
  })
})
