/** What several instances have, and what is only patched, on a real API server. */
import { beforeAll, describe, expect, it } from 'vitest'
import { marksOf } from '../../src/driver/manifests/marks.ts'
import { managerOf } from '../../src/driver/manifests/refs.ts'
import { applyObject } from '../../src/kubernetes/apply.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { whyNoApiServer } from '../external/kubernetes.ts'
import { type ManifestWorld, useManifestWorlds } from './manifests-world.ts'

const reason = whyNoApiServer()

/** Nothing is looked at on schedule while a test runs. */
const spec = `
version: 1.0
name: neighbours
description: What several have
plans: [{ name: small, description: small, free: true }]
manifests:
  observe_every: 1d
  provision:
    - name: broker
      shared: "broker \${context.namespace}"
      object: { apiVersion: v1, kind: ConfigMap, metadata: { name: broker }, data: { for: all } }
    - name: label
      shared: "label \${context.namespace}"
      patch:
        apiVersion: v1
        kind: Namespace
        metadata: { name: "\${context.namespace}", labels: { events: enabled } }
    - name: entry
      patch:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: list }
        data: { "\${instance.id}": here }
`
const broker = '/api/v1/namespaces/$ns/configmaps/broker'
const list = '/api/v1/namespaces/$ns/configmaps/list'
const namespace = '/api/v1/namespaces/$ns'

describe.skipIf(reason !== undefined)(
  `what several instances have, and what is only patched${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    const { open, cluster: current } = useManifestWorlds(spec)
    let cluster: Cluster
    beforeAll(() => {
      cluster = current()
    })
    const makeList = (world: ManifestWorld) =>
      cluster.call('POST', list.replace('$ns', world.namespace).replace('/list', ''), {
        body: { metadata: { name: 'list' }, data: { own: 'yes' } },
      })
    const change = (world: ManifestWorld, path: string, body: JsonObject, by = 'kubectl-edit') =>
      cluster.call('PATCH', path.replace('$ns', world.namespace), {
        query: { fieldManager: by },
        body,
        contentType: 'application/merge-patch+json',
      })
    const dataOf = async (world: ManifestWorld, path: string) => (await world.get(path))?.data as JsonObject | undefined
    const labelsOf = async (world: ManifestWorld) => (await world.get(namespace))?.metadata.labels ?? {}
    /** Until it is back, and whoever has seen to it has said so. */
    const repaired = (world: ManifestWorld, isBack: () => Promise<boolean>) =>
      world.until(async () => {
        const instances = await Promise.all(['one', 'two'].map(id => world.store.instance(id)))
        const told = instances.flatMap(one => one?.conditions ?? []).find(({ reason: why }) => why === 'Repaired')
        return (await isBack()) && told
      })
    const start = async () => {
      const world = await open({ watch: true })
      await makeList(world)
      const replicas = [await world.start(), await world.start()] as const
      for (const id of ['one', 'two'])
        expect(await world.provision(replicas[0], id)).toMatchObject({ state: 'succeeded' })
      // Two kinds that are patched and one that is made, on each replica.
      await expect.poll(() => world.calls.watches, { timeout: 60_000 }).toBeGreaterThanOrEqual(6)
      return { world, replicas }
    }
    const seconds = async (world: ManifestWorld, work: () => Promise<unknown>) => {
      const begun = world.clock.now()
      await work()
      return (world.clock.now() - begun) / 1_000
    }
    const day = 24 * 3_600

    it('a shared object that somebody changes or deletes is put back at once, by one of those who have it', async () => {
      const { world } = await start()
      const isBack = async () => (await dataOf(world, broker))?.for === 'all'
      const took = await seconds(world, async () => {
        await change(world, broker, { data: { for: 'nobody' } })
        expect((await repaired(world, isBack)).message).toBe(
          'ConfigMap broker was changed by kubectl-edit, and put back',
        )
      })
      expect(took).toBeLessThan(day / 2)
      const again = await seconds(world, async () => {
        await cluster.remove(broker.replace('$ns', world.namespace))
        await world.until(isBack)
      })
      expect(again).toBeLessThan(day / 2)
    })

    it('and also when the instance that made it is gone', async () => {
      const { world, replicas } = await start()
      await world.deprovision(replicas[0], 'one')
      expect((await world.store.instance('one'))?.phase).toBe('deleted')
      const isBack = async () => (await dataOf(world, broker)) !== undefined
      await cluster.remove(broker.replace('$ns', world.namespace))
      await repaired(world, isBack)
      expect((await world.store.instance('two'))?.conditions[0]).toMatchObject({ reason: 'Repaired' })
      await world.deprovision(replicas[1], 'two')
      expect(await world.get(broker)).toBeUndefined()
    })

    it('a patch that somebody takes back is made again at once; with the last one its marks go', async () => {
      const { world, replicas } = await start()
      const isBack = async () => (await labelsOf(world)).events === 'enabled'
      const took = await seconds(world, async () => {
        await change(world, namespace, { metadata: { labels: { events: null } } })
        await repaired(world, isBack)
      })
      expect(took).toBeLessThan(day / 2)
      // What is one instance's own is put back by that one.
      const again = await seconds(world, async () => {
        await change(world, list, { data: { two: null } })
        await world.until(async () => (await dataOf(world, list))?.two === 'here')
        await world.until(async () => (await world.store.instance('two'))?.conditions[0]?.reason)
      })
      expect(again).toBeLessThan(day / 2)
      expect(await world.store.instance('two')).toMatchObject({
        conditions: [{ message: expect.stringMatching(/^ConfigMap list was changed by .*, and put back$/) }],
      })
      await world.deprovision(replicas[1], 'two')
      expect(await dataOf(world, list)).toEqual({ own: 'yes', one: 'here' })
      await world.deprovision(replicas[1], 'one')
      expect(await dataOf(world, list)).toEqual({ own: 'yes' })
      expect(Object.keys(await labelsOf(world))).toEqual(['kubernetes.io/metadata.name'])
      const left = await world.get(list)
      expect([left?.metadata.labels ?? {}, left?.metadata.annotations ?? {}]).toEqual([{}, {}])
    })

    it('what is only patched, and was deleted, is patched at once when it is there again', async () => {
      const { world } = await start()
      await cluster.remove(list.replace('$ns', world.namespace))
      const begun = world.clock.now()
      await world.until(async () => (await world.store.instance('two'))?.conditions[0]?.reason === 'Missing')
      await makeList(world)
      await world.until(async () => Object.keys((await dataOf(world, list)) ?? {}).length === 3)
      expect(await dataOf(world, list)).toEqual({ own: 'yes', one: 'here', two: 'here' })
      expect((world.clock.now() - begun) / 1_000).toBeLessThan(day / 2)
    })

    it('two brokers patch one object, and each sees its own', async () => {
      const { world } = await start()
      const other = await open({ watch: true })
      const owner = { broker: 'another', service: 's', instance: 'theirs' }
      const marks = marksOf(owner, { mode: 'patch' })
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'list', ...marks }, data: { theirs: 'x' } }
      await applyObject(cluster, list.replace('$ns', world.namespace), body, { manager: managerOf(owner) })
      expect(await dataOf(world, list)).toEqual({ own: 'yes', one: 'here', two: 'here', theirs: 'x' })
      const labels = Object.keys((await world.get(list))?.metadata.labels ?? {})
      expect(labels.filter(key => key.startsWith('patched.purser.dev/'))).toHaveLength(2)
      expect(other.label).not.toBe(world.label)
    })

    it('what an older version has patched or shared is marked in silence; who takes the marks away has changed it', async () => {
      const world = await open({ spec: spec.replace('1d', '30s') })
      await makeList(world)
      await world.provision(await world.start(), 'one')
      const state = (await world.store.instance('one'))?.state ?? {}
      const own = { broker: world.label, service: world.revision.serviceId, instance: 'one' }
      const shared = `label ${world.namespace}`
      // As it was left: neither the ledger nor the cluster knows of marks.
      await world.store.accept({ instanceId: 'one' }, ({ instance }) => {
        const objects = (state.objects as JsonObject[]).map(({ marked: _, ...ref }) => ref)
        return { answer: 0, change: instance && { instance: { ...instance, state: { ...state, objects } } } }
      })
      const unmarked = async (path: string, body: JsonObject, manager: string) =>
        applyObject(cluster, path.replace('$ns', world.namespace), { apiVersion: 'v1', ...body }, { manager })
      await unmarked(list, { kind: 'ConfigMap', metadata: { name: 'list' }, data: { one: 'here' } }, managerOf(own))
      const labels = { events: 'enabled' }
      await unmarked(
        namespace,
        { kind: 'Namespace', metadata: { name: world.namespace, labels } },
        managerOf(own, shared),
      )
      const marked = Object.keys(marksOf(own, { mode: 'patch' }).labels)[0] ?? ''
      const isMarked = async () => marked in ((await world.get(list))?.metadata.labels ?? {})
      expect([await isMarked(), marked in (await labelsOf(world))]).toEqual([false, false])
      const seen = await world.observed('one')
      expect([seen.status, seen.reason]).toEqual([true, undefined])
      expect([await isMarked(), marked in (await labelsOf(world))]).toEqual([true, true])
      expect((await world.store.instance('one'))?.state).toMatchObject({ objects: Array(3).fill({ marked: true }) })
      expect((await world.store.instance('one'))?.state).not.toHaveProperty('repairs')
      await change(world, list, { metadata: { labels: { [marked]: null } } }, 'tidy')
      expect(await world.observed('one')).toMatchObject({
        reason: 'Repaired',
        message: expect.stringMatching(/^ConfigMap list was changed by .*, and put back$/),
      })
      expect(await isMarked()).toBe(true)
    })

    it('a patch of what is not there is told, and made when it is there', async () => {
      const world = await open({ spec: spec.replace('1d', '30s') })
      await makeList(world)
      await world.provision(await world.start(), 'one')
      await cluster.remove(list.replace('$ns', world.namespace))
      expect(await world.observed('one')).toMatchObject({
        status: false,
        reason: 'Missing',
        message: 'ConfigMap list is not there, and is not made here: it is only changed.',
      })
      await makeList(world)
      expect(await world.observed('one', ready => ready)).toMatchObject({ status: true })
      expect(await dataOf(world, list)).toEqual({ own: 'yes', one: 'here' })
    })
  },
)
