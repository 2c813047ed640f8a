import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { sleep, systemClock } from '../../src/clock.ts'
import { type Cluster, connectCluster } from '../../src/kubernetes/cluster.ts'
import { ClusterUnavailableError, KubernetesError } from '../../src/kubernetes/errors.ts'
import { type ApiServer, whyNoApiServer } from '../external/kubernetes.ts'
import { connectThrough, startApiCounter } from './api-counter.ts'
import { mortal } from './control-plane.ts'
import { asynchronous, type ManifestWorld, useManifestWorlds } from './manifests-world.ts'

const reason = whyNoApiServer()

const spec = `
version: 1.0
name: pair
description: Two config maps
plans:
  - name: small
    description: small
    parameters: [{ name: value, type: string, default: one, updatable: true }]
manifests:
  observe_every: 30s
  provision:
    - name: first
      object:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "first-\${dns(instance.id)}" }
        data: { value: "\${parameters.value}" }
    - name: second
      object:
        apiVersion: v1
        kind: Secret
        metadata: { name: "second-\${dns(instance.id)}" }
        immutable: true
        stringData: { value: "\${parameters.value}" }
`
const first = '/api/v1/namespaces/$ns/configmaps/first-i'
const second = '/api/v1/namespaces/$ns/secrets/second-i'

describe.skipIf(reason !== undefined)(
  `manifests, when things go wrong${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    const { open, cluster: current, server: running } = useManifestWorlds(spec)
    let cluster: Cluster
    let server: ApiServer
    beforeAll(() => {
      cluster = current()
      server = running()
    })
    const left = async (world: ManifestWorld) => [await world.get(first), await world.get(second)].filter(Boolean)
    const failed = (text: string) => ({ state: 'failed', error: { message: expect.stringContaining(text) } })

    it('a server that is away is waited for, and is not asked again and again', async () => {
      const world = await open()
      let away = true
      const gone = async () => {
        throw new ClusterUnavailableError('it does not answer')
      }
      const by = {
        ...cluster,
        call: (...args: Parameters<Cluster['call']>) => (away ? gone() : cluster.call(...args)),
        find: (...args: Parameters<Cluster['find']>) => (away ? gone() : cluster.find(...args)),
      } as Cluster
      const broker = await world.start({ by })
      const { body } = await broker.client.provision('i', world.request(), asynchronous)
      for (let minute = 0; minute < 10; minute += 1) await world.clock.advance(60_000)
      const polled = await broker.client.lastOperation('i', { operation: body.operation ?? '' })
      expect(polled.body).toMatchObject({
        state: 'in progress',
        description: expect.stringContaining('does not answer'),
      })
      expect(world.calls.made).toBeLessThan(60)
      away = false
      expect(await world.ended({ body } as never)).toMatchObject({ state: 'succeeded' })
      await world.deprovision(broker, 'i')
      expect(await left(world)).toEqual([])
    })

    it('a server that is killed in the middle is waited for', async () => {
      const world = await open({ cluster: await server.connect(500) })
      const broker = await world.start()
      await server.kill()
      const { body } = await broker.client.provision('i', world.request(), asynchronous)
      await world.until(async () => world.calls.made > 0)
      await server.restart()
      expect(await world.ended({ body } as never)).toMatchObject({ state: 'succeeded' })
      await world.deprovision(broker, 'i')
      expect(await left(world)).toEqual([])
    })

    it('a server that is slow, busy or cut off now and then is waited for', async () => {
      const api = await startApiCounter(cluster)
      api.trouble(turn => (turn % 7 === 3 ? { status: 429, after: 1 } : turn % 5 === 2 ? 'cut' : { delay: 300 }))
      const world = await open({ cluster: await connectThrough(api) })
      const broker = await world.start()
      expect(await world.provision(broker, 'i')).toMatchObject({ state: 'succeeded' })
      expect(await left(world)).toHaveLength(2)
      expect(await world.deprovision(broker, 'i')).toMatchObject({ state: 'succeeded' })
      expect(await left(world)).toEqual([])
      expect(api.requests()).toBeLessThan(100)
      await world.stop()
      await api.stop()
    })

    it.each([409, 429])('an answer %s is tried again', async status => {
      const world = await open()
      let refusals = 0
      const call: Cluster['call'] = async (method, path, options) => {
        if (method === 'PATCH' && refusals < 2) {
          refusals += 1
          throw new KubernetesError(status, 'Conflict', `PATCH ${path}: not now`)
        }
        return cluster.call(method, path, options)
      }
      const broker = await world.start({ by: { ...cluster, call } })
      expect(await world.provision(broker, 'i')).toMatchObject({ state: 'succeeded' })
      expect(refusals).toBe(2)
      await world.deprovision(broker, 'i')
    })

    it('what a policy denies fails with its words, and leaves nothing', async () => {
      const world = await open()
      const root = '/apis/admissionregistration.k8s.io/v1'
      const name = world.namespace
      const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['secrets'] }
      await cluster.call('POST', `${root}/validatingadmissionpolicies`, {
        body: {
          metadata: { name },
          spec: {
            matchConstraints: {
              resourceRules: [rule],
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
            },
            validations: [{ expression: 'false', message: 'no secrets here' }],
          },
        },
      })
      await cluster.call('POST', `${root}/validatingadmissionpolicybindings`, {
        body: { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } },
      })
      const isInForce = () =>
        cluster
          .call('POST', `/api/v1/namespaces/${name}/secrets`, {
            query: { dryRun: 'All' },
            body: { metadata: { name: 'probe' } },
          })
          .then(
            () => false,
            () => true,
          )
      await expect.poll(isInForce, { timeout: 60_000 }).toBe(true)
      const broker = await world.start()
      expect(await world.provision(broker, 'i')).toMatchObject(failed('no secrets here'))
      expect(await left(world)).toEqual([])
      expect(await world.deprovision(broker, 'i')).toMatchObject({ state: 'succeeded' })
    })

    it('a quota that is used up fails at once, and leaves nothing', async () => {
      const world = await open()
      const path = `/api/v1/namespaces/${world.namespace}/resourcequotas`
      const counted = { secrets: '0' }
      await cluster.call('POST', path, { body: { metadata: { name: 'q' }, spec: { hard: counted } } })
      // Its controller is not here.
      await cluster.call('PATCH', `${path}/q/status`, {
        body: { status: { hard: counted, used: counted } },
        contentType: 'application/merge-patch+json',
      })
      const broker = await world.start()
      expect(await world.provision(broker, 'i')).toMatchObject(failed('the quota of the namespace is used up'))
      expect(await left(world)).toEqual([])
    })

    it('a namespace that is being deleted is told', async () => {
      const world = await open()
      const finalized = { metadata: { name: 'stays', finalizers: ['example.com/stays'] } }
      await cluster.call('POST', `/api/v1/namespaces/${world.namespace}/configmaps`, { body: finalized })
      await cluster.remove(`/api/v1/namespaces/${world.namespace}`)
      const broker = await world.start()
      expect(await world.provision(broker, 'i')).toMatchObject(failed('its namespace is being deleted'))
      expect(await left(world)).toEqual([])
    })

    it('a right that the broker lacks is named, and nothing is left', async () => {
      const world = await open()
      const { namespace } = world
      const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
      await cluster.call('POST', accounts, { body: { metadata: { name: 'weak' } } })
      const { status } = await cluster.call<{ status: { token: string } }>('POST', `${accounts}/weak/token`, {
        body: { spec: {} },
      })
      const kubeconfig = `${server.kubeconfig}-${namespace}`
      writeFileSync(kubeconfig, readFileSync(server.kubeconfig, 'utf8').replace(/token: \S+/, `token: ${status.token}`))
      const weak = await connectCluster({ kubeconfig }, { clock: systemClock, env: {} })
      const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch', 'delete'] }]
      await cluster.call('POST', `${roles}/roles`, { body: { metadata: { name: 'weak' }, rules } })
      await cluster.call('POST', `${roles}/rolebindings`, {
        body: {
          metadata: { name: 'weak' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'weak' },
          subjects: [{ kind: 'ServiceAccount', name: 'weak', namespace }],
        },
      })
      const mayGet = () =>
        weak.find(`/api/v1/namespaces/${namespace}/configmaps/x`).then(
          () => true,
          () => false,
        )
      await expect.poll(mayGet, { timeout: 30_000 }).toBe(true)
      const broker = await world.start({ by: weak })
      expect(await world.provision(broker, 'i')).toMatchObject(failed('the broker has no right to do that'))
      expect(await left(world)).toEqual([])
      expect(await world.deprovision(broker, 'i')).toMatchObject({ state: 'succeeded' })
    })

    it('fields that somebody else has set, and fields that cannot be changed, are told', async () => {
      const world = await open()
      const broker = await world.start()
      await world.provision(broker, 'i')
      const update = async (value: string) =>
        world.ended(await broker.client.update('i', { ...world.ids(), parameters: { value } }, asynchronous))
      await cluster.call('PATCH', first.replace('$ns', world.namespace), {
        query: { fieldManager: 'somebody' },
        body: { data: { value: 'theirs' } },
        contentType: 'application/merge-patch+json',
      })
      expect(await update('two')).toMatchObject(failed('"somebody"'))
      await world.observed('i', ready => ready)
      expect(await update('two')).toMatchObject(failed('a field cannot be changed once the object is there'))
      await world.deprovision(broker, 'i')
      expect(await left(world)).toEqual([])
    })

    it('a finalizer is waited for and named, and nothing is asked again and again', async () => {
      const world = await open()
      const broker = await world.start()
      await world.provision(broker, 'i')
      const path = first.replace('$ns', world.namespace)
      const finalizers = (list: readonly string[]) =>
        cluster.call('PATCH', path, {
          body: { metadata: { finalizers: list } },
          contentType: 'application/merge-patch+json',
        })
      await finalizers(['example.com/stuck'])
      const { body } = await broker.client.deprovision('i', world.ids(), asynchronous)
      const description = async () => (await world.store.operation(body.operation ?? ''))?.description ?? ''
      await world.until(async () => (await description()).includes('example.com/stuck'))
      // The other one went first, and the operation goes on.
      expect(await world.get(second)).toBeUndefined()
      const before = world.calls.made
      for (let minute = 0; minute < 5; minute += 1) await world.clock.advance(60_000)
      await sleep(systemClock, 200)
      expect(world.calls.made - before).toBeLessThan(400)
      await finalizers([])
      expect(await world.ended({ body } as never)).toMatchObject({ state: 'succeeded' })
      expect(await left(world)).toEqual([])
    })

    it.each(['before', 'after'] as const)(
      'a broker that dies at any call leaves nothing (%s the call)',
      async moment => {
        for (let deathAt = 1; ; deathAt += 1) {
          const world = await open()
          const dying = mortal(cluster, deathAt, moment)
          const doomed = await world.start({ by: dying.cluster })
          const { body } = await doomed.client.provision('i', world.request(), asynchronous)
          await world.until(async () => {
            const ended = (await world.store.operation(body.operation ?? ''))?.finishedAt !== undefined
            return ended || dying.calls() >= deathAt
          })
          await doomed.stop()
          const heir = await world.start()
          // Half of them go on, half of them are given up by the platform.
          if (deathAt % 2 === 0) expect(await world.ended({ body } as never)).toMatchObject({ state: 'succeeded' })
          const survived = dying.calls() < deathAt
          expect(await world.deprovision(heir, 'i'), `death at call ${deathAt}`).toMatchObject({ state: 'succeeded' })
          await world.clock.advance(10 * 60_000)
          expect(await left(world), `death at call ${deathAt}`).toEqual([])
          if (survived) return expect(deathAt).toBeGreaterThan(5)
        }
      },
    )
  },
)
