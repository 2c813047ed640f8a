/** What services of manifests have left in a cluster, and no instance has. */
import { beforeAll, describe, expect, it } from 'vitest'
import { ownMetadata } from '../../src/driver/manifests/refs.ts'
import { applyObject } from '../../src/kubernetes/apply.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import type { Store } from '../../src/store.ts'
import { whyNoApiServer } from '../external/kubernetes.ts'
import { connectAs } from './accounts.ts'
import { asynchronous, useWorlds } from './manifests-world.ts'
import { createOrphanWorld, type OrphanWorld } from './orphans-world.ts'

const reason = whyNoApiServer()
/** Older than orphans that stay. */
const old = 11 * 60_000

const spec = (more = '') => `
version: 1.0
name: greeter
description: A config map, and a Secret for each binding
bindable: true
plans: [{ name: small, description: small, free: true, parameters: [] }]
manifests:
  provision:
    - name: settings
      object: { apiVersion: v1, kind: ConfigMap, metadata: { name: "settings-\${dns(instance.id)}" } }
${more}
  bind:
    - name: login
      object: { apiVersion: v1, kind: Secret, metadata: { name: "login-\${dns(binding.id)}" } }
`

const richSpec = spec(`
    - name: key
      object: { apiVersion: v1, kind: Secret, metadata: { name: "key-\${dns(instance.id)}" } }
    - name: common
      shared: common
      object: { apiVersion: v1, kind: ConfigMap, metadata: { name: common } }
    - name: theirs
      patch: { apiVersion: v1, kind: ConfigMap, metadata: { name: theirs }, data: { "\${instance.id}": "yes" } }
`)

describe.skipIf(reason !== undefined)(
  `orphans of manifests${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    const { open, cluster: current } = useWorlds((cluster, source?: string) =>
      createOrphanWorld(cluster, source ?? spec()),
    )
    let cluster: Cluster
    beforeAll(() => {
      cluster = current()
    })
    const mapsOf = ({ namespace }: OrphanWorld) => `/api/v1/namespaces/${namespace}/configmaps`

    it('are what the ledger has lost; they are removed, the last one first, and nothing that others have', async () => {
      const world = await open(richSpec)
      await cluster.call('POST', mapsOf(world), { body: { metadata: { name: 'theirs' } } })
      const before = await world.start()
      expect(await before.provision('kept')).toBe('succeeded')
      expect(await before.bind('kept', 'b-1')).toBe('succeeded')
      const restore = await world.backUp(before.store)
      expect(await before.provision('lost')).toBe('succeeded')
      expect(await before.bind('lost', 'b-2')).toBe('succeeded')
      expect(await before.bind('kept', 'b-3')).toBe('succeeded')
      // Somebody keeps a copy: it has all that the object has, and was made by somebody else.
      const { metadata, ...made } = await cluster.call<KubernetesObject>('GET', `${mapsOf(world)}/settings-lost`)
      const { labels, annotations } = metadata
      await cluster.call('POST', mapsOf(world), { body: { ...made, metadata: { name: 'copy', labels, annotations } } })
      expect(await before.report()).toEqual([])

      const deleted: string[] = []
      const noting: Cluster = {
        ...cluster,
        remove(path, options) {
          deleted.push(path.split('/').at(-1) ?? '')
          return cluster.remove(path, options)
        },
      }
      const after = await world.start({ store: await restore(), by: noting })
      expect(await after.report()).toEqual([
        ['orphan', 'kept/b-3', 'It is too young.'],
        ['orphan', 'lost', 'It is too young.'],
        ['orphan', 'lost/b-2', 'It is too young.'],
      ])
      expect((await after.fix()).operations).toEqual([])
      await world.clock.advance(old)
      expect(await after.report()).toEqual([
        ['orphan', 'kept/b-3', 'go'],
        ['orphan', 'lost', 'go'],
        ['orphan', 'lost/b-2', 'It goes with its instance.'],
      ])
      const { items = [] } = (await after.admin.removeOrphans({ reason: 'a try', dry_run: true })).body
      const lost = items.find(({ instance_id, binding_id }) => instance_id === 'lost' && binding_id === undefined)
      expect(lost).toMatchObject({
        name: `ConfigMap ${world.namespace}/settings-lost`,
        created_at: expect.stringMatching(/^\d{4}-/),
        detail: `With Secret ${world.namespace}/key-lost, Secret ${world.namespace}/login-b-2.`,
      })
      expect(deleted).toEqual([])

      const { operations } = await after.fix()
      expect(operations.map(({ action, state }) => [action, state]).toSorted()).toEqual([
        ['deprovision', 'succeeded'],
        ['unbind', 'succeeded'],
      ])
      expect(deleted.filter(name => name !== 'login-b-3')).toEqual(['login-b-2', 'key-lost', 'settings-lost'])
      for (const gone of ['configmaps/settings-lost', 'secrets/key-lost', 'secrets/login-b-2', 'secrets/login-b-3'])
        expect([gone, await world.exists(gone)]).toEqual([gone, false])
      const others = [
        'configmaps/common',
        'configmaps/theirs',
        'configmaps/copy',
        'secrets/login-b-1',
        'secrets/key-kept',
      ]
      for (const there of others) expect([there, await world.exists(there)]).toEqual([there, true])
      expect(await after.report()).toEqual([])
      // The id is free again.
      expect(await after.provision('lost')).toBe('succeeded')
    })

    it('that the ledger knows as deleted are swept', async () => {
      const world = await open()
      const broker = await world.start()
      await broker.provision('i')
      await broker.bind('i', 'b')
      expect((await broker.admin.abandonInstance('i', { bindings: true, reason: 'a try' })).status).toBe(200)
      expect(await world.exists('configmaps/settings-i')).toBe(true)
      await world.clock.advance(old)
      expect(await broker.report()).toContainEqual(['orphan', 'i', 'go'])
      const { operations } = await broker.fix()
      expect(operations).toMatchObject([{ action: 'sweep', state: 'succeeded' }])
      expect([await world.exists('configmaps/settings-i'), await world.exists('secrets/login-b')]).toEqual([
        false,
        false,
      ])
    })

    it('are never those of another broker, though its ledger has the same address', async () => {
      const world = await open()
      const one = await world.start()
      const other = await world.start()
      expect(other.store.name).toBe(one.store.name)
      await one.provision('i')
      await world.clock.advance(old)
      expect(await other.report()).toEqual([])
      expect((await other.fix()).items).toEqual([])
      expect(await world.exists('configmaps/settings-i')).toBe(true)
    })

    it('who asks for the id meanwhile has it', async () => {
      const world = await open()
      const before = await world.start()
      await before.provision('kept')
      const restore = await world.backUp(before.store)
      await before.provision('lost')
      await world.clock.advance(old)
      const store = await restore()
      const platform = await world.start({ store })
      let asked = 0
      const between: Store = {
        ...store,
        async accept(target, decide, place) {
          // Once to judge, then to remove.
          if (target.instanceId === 'lost' && ++asked === 2)
            expect((await platform.client.provision('lost', platform.request, asynchronous)).status).toBe(202)
          return store.accept(target, decide, place)
        },
      }
      const { items, operations } = await (await world.start({ store: between })).fix()
      expect(items).toMatchObject([{ instance_id: 'lost', removable: false, reason: 'It belongs to somebody by now.' }])
      expect(operations).toEqual([])
      await world.until(async () => (await store.instance('lost'))?.phase === 'ready')
      expect(await world.exists('configmaps/settings-lost')).toBe(true)
    })

    it('are found by the kinds of every revision that is kept, and not only of the current one', async () => {
      const world = await open(richSpec)
      await cluster.call('POST', mapsOf(world), { body: { metadata: { name: 'theirs' } } })
      const before = await world.start()
      await before.provision('kept')
      const restore = await world.backUp(before.store)
      await before.provision('lost')
      world.list(spec().replace('A config map', 'Only a config map').replace('kind: Secret', 'kind: ConfigMap'))
      const after = await world.start({ store: await restore() })
      await after.admin.runChore('sync')
      await world.until(async () => (await after.catalog())[0]?.description?.startsWith('Only'))
      await world.clock.advance(old)
      expect(await after.report()).toEqual([['orphan', 'lost', 'go']])
      expect((await after.fix()).operations).toMatchObject([{ state: 'succeeded' }])
      expect([await world.exists('secrets/key-lost'), await world.exists('secrets/key-kept')]).toEqual([false, true])
    })

    it('are not judged where a kind cannot be listed, and it is said which right is missing', async () => {
      const world = await open()
      const before = await world.start()
      const restore = await world.backUp(before.store)
      await before.provision('lost')
      await before.bind('lost', 'b')
      const { namespace } = world
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      await cluster.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
        body: { metadata: { name: 'less' } },
      })
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }]
      await cluster.call('POST', `${rbac}/clusterroles`, { body: { metadata: { name: namespace }, rules } })
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: namespace }
      const subjects = [{ kind: 'ServiceAccount', name: 'less', namespace }]
      await cluster.call('POST', `${rbac}/clusterrolebindings`, {
        body: { metadata: { name: namespace }, roleRef, subjects },
      })
      const less = await connectAs(cluster, namespace, 'less')
      // It takes a while until the server knows it.
      await expect.poll(() => less.call('GET', '/api/v1/configmaps').then(() => 'yes', String)).toBe('yes')
      const after = await world.start({ store: await restore(), by: less })
      await world.clock.advance(old)
      for (const answer of [await after.admin.orphans(), await after.admin.removeOrphans({ reason: 'a try' })]) {
        expect(answer).toMatchObject({ status: 502, body: { error: 'BackendNotListed' } })
        const { detail } = answer.body as unknown as { readonly detail: string }
        expect(detail).toContain('v1/Secret')
        expect(detail).toContain('the verb "list" on the resource "secrets" of the core API group, in all namespaces')
      }
      expect(await after.store.instance('lost')).toBeUndefined()
      expect(await world.exists('configmaps/settings-lost')).toBe(true)
    })

    it('may be many: they are read by pages, without what is in them', async () => {
      const world = await open()
      const lists: (JsonObject & { readonly path: string })[] = []
      const noting: Cluster = {
        ...cluster,
        async call<Answer>(...[method, path, options]: Parameters<Cluster['call']>): Promise<Answer> {
          const answer = await cluster.call<Answer>(method, path, options)
          if (options?.query?.labelSelector !== undefined) {
            const items = (answer as { readonly items?: readonly JsonObject[] | null }).items ?? []
            lists.push({ path, count: items.length, data: items.some(({ data }) => data !== undefined) })
          }
          return answer
        },
      }
      const broker = await world.start({ by: noting })
      const id = await broker.store.note('ledger', 'id')
      expect(id).toBeUndefined()
      await broker.report()
      const noted = await broker.store.note('ledger', 'id')
      const count = 620
      const owner = (instance: string) => ({ broker: String(noted?.doc.id), service: broker.ids.service_id, instance })
      for (let from = 0; from < count; from += 20)
        await Promise.all(
          Array.from({ length: 20 }, (_, index) => {
            const name = `many-${from + index}`
            const own = ownMetadata(owner(name), { order: 0 })
            const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...own }, data: { a: 'b' } }
            return applyObject(cluster, `${mapsOf(world)}/${name}`, body, {
              manager: `purser-${own.labels['purser.dev/owner']}`,
            })
          }),
        )
      await world.clock.advance(old)
      lists.length = 0
      const found = await broker.report()
      expect(found).toHaveLength(count)
      expect(found.every(([, , what]) => what === 'go')).toBe(true)
      expect(lists).toEqual([
        { path: '/api/v1/configmaps', count: 500, data: false },
        { path: '/api/v1/configmaps', count: count - 500, data: false },
        { path: '/api/v1/secrets', count: 0, data: false },
      ])
    })
  },
)
