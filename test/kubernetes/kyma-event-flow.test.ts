import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { sleep, systemClock } from '../../src/clock.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { createKinds } from '../../src/kubernetes/kinds.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { readRegistrySettings } from '../../src/registry/read-settings.ts'
import { createRegistry } from '../../src/registry/types.ts'
import { fromCode } from '../../src/shape/place.ts'
import { type ApiServer, startApiServer, whyNoApiServer } from '../external/kubernetes.ts'
import { asynchronous, createManifestWorld, type ManifestWorld, type ManifestWorldOptions } from './manifests-world.ts'

const reason = whyNoApiServer()
const sample = 'samples/kyma-event-flow'
const config = parse(readFileSync(`${sample}/purser.yaml`, 'utf8'))

describe.skipIf(reason !== undefined)(
  `samples/kyma-event-flow${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let server: ApiServer
    let cluster: Cluster
    let spec = ''
    const worlds: ManifestWorld[] = []

    const registryOf = () => {
      const { settings, mistakes } = readRegistrySettings(fromCode(config.registries), `${process.cwd()}/${sample}`)
      expect(mistakes).toEqual([])
      const [entry] = settings ?? []
      if (entry === undefined) throw new Error('no registry')
      const findKind = createKinds(cluster)
      return createRegistry(entry, { clock: systemClock, cluster: async () => ({ cluster, findKind }) })
    }
    const listed = () => registryOf().list(new AbortController().signal)

    beforeAll(async () => {
      server = await startApiServer()
      cluster = await server.connect()
      const crds = parseAllDocuments(readFileSync(`${sample}/crds.yaml`, 'utf8')).map(document => document.toJS())
      for (const body of crds)
        await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body })
      await cluster.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'kyma-integration' } } })
      const findKind = createKinds(cluster)
      for (const { spec: crd } of crds)
        while ((await findKind({ apiVersion: `${crd.group}/v1alpha1`, kind: crd.names.kind })) === undefined)
          await sleep(systemClock, 100)
      await make('applicationconnector.kyma-project.io', 'applications', 'shop', { spec: { displayName: 'The shop' } })
      const answer = await listed()
      spec = answer.kind === 'failed' ? '' : (answer.found[0]?.source ?? '')
    })
    afterEach(async () => {
      for (const world of worlds.splice(0)) await world.stop()
    })
    afterAll(() => server?.stop())

    const root = (group: string, namespace?: string) =>
      `/apis/${group}/v1alpha1${namespace === undefined ? '' : `/namespaces/${namespace}`}`
    const kinds: Readonly<Record<string, string>> = {
      applications: 'Application',
      channels: 'Channel',
      brokers: 'Broker',
    }
    async function make(group: string, plural: string, name: string, more: JsonObject & { namespace?: string } = {}) {
      const { namespace, ...rest } = more
      const metadata = { name, ...(rest.metadata as JsonObject | undefined) }
      await cluster.call('POST', `${root(group, namespace)}/${plural}`, {
        body: { apiVersion: `${group}/v1alpha1`, kind: kinds[plural], ...rest, metadata },
      })
    }
    const setReady = (path: string, status = 'True', message = '') =>
      cluster.call('PATCH', `${path}/status`, {
        body: { status: { conditions: [{ type: 'Ready', status, message }] } },
        contentType: 'application/merge-patch+json',
      })
    const open = async (options: Partial<ManifestWorldOptions> = {}) => {
      const world = await createManifestWorld({ spec, cluster, limits: config.bundles.manifests, ...options })
      worlds.push(world)
      return world
    }
    const channel = () =>
      make('messaging.knative.dev', 'channels', 'shop', {
        namespace: 'kyma-integration',
        metadata: { labels: { 'application-name': 'shop' } },
      })
    const removeChannel = () => cluster.remove(`${root('messaging.knative.dev', 'kyma-integration')}/channels/shop`)
    const subscriptions = async () => {
      const path = `${root('messaging.knative.dev', 'kyma-integration')}/subscriptions`
      return (await cluster.call<{ items: { metadata: { name: string } }[] }>('GET', path)).items.map(
        ({ metadata }) => metadata.name,
      )
    }
    const labelOf = async (world: ManifestWorld) =>
      (await world.get('/api/v1/namespaces/$ns'))?.metadata.labels?.['knative-eventing-injection']
    /** Knative's part: a broker where the label is, and everything ready. */
    const knative = async (world: ManifestWorld, brokerReady = true) => {
      for (const name of await subscriptions())
        await setReady(`${root('messaging.knative.dev', 'kyma-integration')}/subscriptions/${name}`)
      if ((await labelOf(world)) === undefined) return
      const path = `${root('eventing.knative.dev', world.namespace)}/brokers/default`
      if ((await cluster.find(path)) === undefined)
        await make('eventing.knative.dev', 'brokers', 'default', { namespace: world.namespace })
      await setReady(path, brokerReady ? 'True' : 'False', 'the filter is not ready')
    }
    const description = async (world: ManifestWorld, id: string) => (await world.store.operation(id))?.description ?? ''

    it('Applications are services, and a list that fails makes none of them gone', async () => {
      expect(await listed()).toMatchObject({ kind: 'complete', found: [{ name: 'shop', image: '', runtime: 2 }] })
      expect(JSON.parse(spec)).toMatchObject({
        name: 'shop',
        description: 'An application',
        manifests: { values: { application: 'shop', displayName: 'The shop' } },
      })
      server.freeze()
      const signal = AbortSignal.timeout(2_000)
      const answer = await registryOf().list(signal)
      server.thaw()
      expect(answer).toMatchObject({ kind: 'failed' })
    })

    it('a watch says when an Application comes, changes or goes', async () => {
      const stop = new AbortController()
      let changes = 0
      const watching = registryOf().watch?.(() => {
        changes += 1
      }, stop.signal)
      await expect.poll(() => changes).toBe(1)
      await make('applicationconnector.kyma-project.io', 'applications', 'other')
      await expect.poll(() => changes).toBe(2)
      await cluster.remove(`${root('applicationconnector.kyma-project.io')}/applications/other`)
      await expect.poll(() => changes).toBe(3)
      stop.abort()
      await watching
    })

    it('7193: waits for the channel of the application, and goes on when it is there; a deprovision undoes all', async () => {
      const world = await open()
      const broker = await world.start()
      const accepted = await broker.client.provision('one', world.request(), asynchronous)
      const id = accepted.body.operation ?? ''
      await world.until(async () => (await description(world, id)).includes('Channel is not ready'))
      expect(await subscriptions()).toEqual([])
      await channel()
      await world.until(async () => {
        await knative(world)
        return (await world.store.operation(id))?.finishedAt !== undefined
      })
      expect(await world.store.operation(id)).toMatchObject({ state: 'succeeded' })
      expect(await labelOf(world)).toBe('enabled')
      expect(
        await world.get(`${root('authentication.istio.io', '$ns')}/policies/${world.namespace}-broker`),
      ).toBeDefined()
      expect(await world.deprovision(broker, 'one')).toMatchObject({ state: 'succeeded' })
      expect(await labelOf(world)).toBeUndefined()
      expect(await subscriptions()).toEqual([])
      expect(
        await world.get(`${root('authentication.istio.io', '$ns')}/policies/${world.namespace}-broker`),
      ).toBeUndefined()
      expect(
        await world.get(`${root('applicationconnector.kyma-project.io', '$ns')}/eventactivations/one`),
      ).toBeUndefined()
      await removeChannel()
    })

    it('6342: the label stays for a neighbour, and goes with the last one', async () => {
      const world = await open()
      const broker = await world.start()
      await channel()
      const ready = async (id: string) => {
        const { body } = await broker.client.provision(id, world.request(), asynchronous)
        await world.until(async () => {
          await knative(world)
          return (await world.store.operation(body.operation ?? ''))?.finishedAt !== undefined
        })
      }
      await ready('one')
      await ready('two')
      await world.deprovision(broker, 'one')
      expect(await labelOf(world)).toBe('enabled')
      await world.deprovision(broker, 'two')
      expect(await labelOf(world)).toBeUndefined()
      await removeChannel()
    })

    it('what somebody takes from all instances of a namespace is back at once', async () => {
      // Nothing is looked at on schedule while the test runs.
      const seldom = JSON.parse(spec)
      const world = await open({
        spec: JSON.stringify({ ...seldom, manifests: { ...seldom.manifests, observe_every: '1d' } }),
        watch: true,
      })
      const broker = await world.start()
      await channel()
      const { body } = await broker.client.provision('one', world.request(), asynchronous)
      await world.until(async () => {
        await knative(world)
        return (await world.store.operation(body.operation ?? ''))?.finishedAt !== undefined
      })
      // EventActivation, Subscription and Policy are made, and Namespace is patched.
      await expect.poll(() => world.calls.watches, { timeout: 60_000 }).toBeGreaterThanOrEqual(4)
      const begun = world.clock.now()
      await cluster.call('PATCH', `/api/v1/namespaces/${world.namespace}`, {
        body: { metadata: { labels: { 'knative-eventing-injection': null } } },
        contentType: 'application/merge-patch+json',
      })
      await world.until(async () => (await labelOf(world)) === 'enabled')
      const policy = `${root('authentication.istio.io', world.namespace)}/policies/${world.namespace}-broker`
      await cluster.remove(policy)
      await world.until(async () => (await world.get(policy)) !== undefined)
      expect(world.clock.now() - begun).toBeLessThan(12 * 3_600_000)
      await world.deprovision(broker, 'one')
      expect([await labelOf(world), await world.get(policy)]).toEqual([undefined, undefined])
      await removeChannel()
    })

    it('7696: a broker that is late fails the provision, and heals it when it is ready', async () => {
      const world = await open()
      const broker = await world.start()
      await channel()
      const { body } = await broker.client.provision('one', world.request(), asynchronous)
      const operation = await world.until(async () => {
        await knative(world, false)
        const found = await world.store.operation(body.operation ?? '')
        return found?.finishedAt === undefined ? undefined : found
      })
      expect(operation).toMatchObject({
        state: 'failed',
        error: { message: 'Broker default is not ready: the filter is not ready, after 3 minutes.' },
      })
      expect(await world.observed('one')).toMatchObject({ status: false, reason: 'NotReady' })
      await knative(world)
      expect(await world.observed('one', ready => ready)).toMatchObject({ status: true })
      expect((await broker.client.provision('one', world.request(), asynchronous)).status).toBe(200)
      await knative(world, false)
      expect(await world.observed('one', ready => !ready)).toMatchObject({ message: expect.stringContaining('filter') })
      await world.deprovision(broker, 'one')
      await removeChannel()
    })

    it('8180: after a restart another process goes on', async () => {
      const world = await open()
      const first = await world.start()
      const { body } = await first.client.provision('one', world.request(), asynchronous)
      await world.until(async () => (await description(world, body.operation ?? '')).includes('Channel is not ready'))
      await first.stop()
      await channel()
      const second = await world.start()
      await world.until(async () => {
        await knative(world)
        return (await world.store.operation(body.operation ?? ''))?.finishedAt !== undefined
      })
      expect(await world.store.operation(body.operation ?? '')).toMatchObject({ state: 'succeeded' })
      await world.deprovision(second, 'one')
      expect(await subscriptions()).toEqual([])
      await removeChannel()
    })
  },
)
