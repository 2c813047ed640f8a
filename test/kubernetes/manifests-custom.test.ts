import { beforeAll, describe, expect, it } from 'vitest'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { whyNoApiServer } from '../external/kubernetes.ts'
import { asynchronous, defineKind, useManifestWorlds } from './manifests-world.ts'

const reason = whyNoApiServer()

const spec = `
version: 1.0
name: database
description: A database, and a rule that all databases of a namespace share
plans: [{ name: small, description: small, parameters: [{ name: size, type: integer, default: 1, updatable: true }] }]
manifests:
  observe_every: 30s
  provision:
    - name: rule
      shared: rule of \${context.namespace}
      object: { apiVersion: example.com/v1alpha1, kind: Rule, metadata: { name: rule }, spec: { mode: strict } }
    - name: database
      object:
        apiVersion: example.com/v1alpha1
        kind: Database
        metadata: { name: database }
        spec: { size: "\${parameters.size}" }
`

describe.skipIf(reason !== undefined)(
  `manifests of custom resources${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    const { open, cluster: current } = useManifestWorlds(spec)
    let cluster: Cluster
    beforeAll(async () => {
      cluster = current()
      for (const kind of ['Database', 'Rule']) await defineKind(cluster, kind, ['v1alpha1', 'v1'])
    })
    const database = '/apis/example.com/v1/namespaces/$ns/databases/database'
    const rule = '/apis/example.com/v1/namespaces/$ns/rules/rule'

    it('are looked at again and again, and not written to', async () => {
      const world = await open()
      await world.provision(await world.start(), 'i')
      const versions = async () =>
        [await world.get(database), await world.get(rule)].map(live => live?.metadata.resourceVersion)
      const before = await versions()
      for (let look = 0; look < 5; look += 1) {
        const seen = await world.observed('i')
        expect([seen.status, seen.reason]).toEqual([true, undefined])
      }
      expect(await versions()).toEqual(before)
    })

    it('are not put back where a controller writes their status meanwhile', async () => {
      const world = await open()
      let writes = 0
      const find: Cluster['find'] = async (path, options) => {
        const found = await cluster.find(path, options)
        if (found !== undefined && path.endsWith('/databases/database')) {
          writes += 1
          const body = { status: { writes } }
          await cluster.call('PATCH', `${path}/status`, { body, contentType: 'application/merge-patch+json' })
        }
        return found as never
      }
      await world.provision(await world.start({ by: { ...cluster, find } }), 'i')
      for (let look = 0; look < 5; look += 1) {
        const seen = await world.observed('i')
        expect([seen.status, seen.reason]).toEqual([true, undefined])
      }
      expect(writes).toBeGreaterThan(5)
    })

    it('an update to another version of a kind changes the same object', async () => {
      const world = await open()
      const before = await world.start()
      await world.provision(before, 'i')
      const made = await world.get(database)
      await before.stop()
      const after = await world.start({ source: spec.replaceAll('v1alpha1', 'v1') })
      const update = await after.client.update('i', { ...world.ids(), parameters: { size: 2 } }, asynchronous)
      expect(await world.ended(update)).toMatchObject({ state: 'succeeded' })
      expect(await world.get(database)).toMatchObject({ metadata: { uid: made?.metadata.uid }, spec: { size: 2 } })
      expect(await world.get(rule)).toBeDefined()
      const { state } = (await world.store.instance('i')) ?? {}
      expect(state).toMatchObject({ objects: [{ apiVersion: 'example.com/v1' }, { apiVersion: 'example.com/v1' }] })
      expect(await world.deprovision(after, 'i')).toMatchObject({ state: 'succeeded' })
      expect([await world.get(database), await world.get(rule)]).toEqual([undefined, undefined])
    })
  },
)
