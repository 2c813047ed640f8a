import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sleep, systemClock } from '../../src/clock.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { KubernetesError } from '../../src/kubernetes/errors.ts'
import { listAll } from '../../src/kubernetes/list.ts'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import type { Pod } from '../../src/sandbox/kubernetes/pod-status.ts'
import { never } from '../../src/testing/sandbox-contract/subject.ts'
import { type ApiServer, startApiServer, whyNoApiServer } from '../external/kubernetes.ts'
import { connectAs } from './accounts.ts'
import { connectThrough, startApiCounter } from './api-counter.ts'
import { idleSpec, openHome, setBundleState } from './control-plane.ts'

const reason = whyNoApiServer()
const refused = (message: RegExp) => ({ name: 'SandboxRefusedError', message: expect.stringMatching(message) })

describe.skipIf(reason !== undefined)(
  `what can go wrong in a cluster${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let server: ApiServer
    let cluster: Cluster
    const make = (path: string, body: object) => cluster.call('POST', path, { body })
    beforeAll(async () => {
      server = await startApiServer()
      cluster = await server.connect()
      await make('/api/v1/namespaces', { metadata: { name: 'target' } })
    })
    afterAll(() => server?.stop())

    const setState = (path: string, state: object, more = {}) => setBundleState(cluster, path, state, more)

    it('no rights: refused, and nothing is left', async () => {
      const { open, leftovers } = await openHome(cluster)
      await make('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'nobody' } })
      const runtime = open({}, await connectAs(cluster, 'default', 'nobody'))
      await expect(runtime.start(idleSpec('o-1'))).rejects.toMatchObject(refused(/may not make its sandbox/))
      expect(await runtime.status('o-1')).toMatchObject({ kind: 'unknown', reason: expect.stringMatching(/forbidden/) })
      expect(await leftovers()).toEqual([])
    })

    it('a target that is not there: refused for what is made, and no matter for what is taken away', async () => {
      const { open, leftovers, pods } = await openHome(cluster)
      const origin = { bundle: 'dh-x', namespace: 'nowhere' }
      await expect(open().start(idleSpec('o-1', { origin }))).rejects.toMatchObject(refused(/is not there/))
      expect(await leftovers()).toEqual([])
      await open().start(idleSpec('o-2', { origin }, 'deprovision'))
      expect(await pods()).toHaveLength(1)
      await open().remove('o-2')
      expect(await leftovers()).toEqual([])
    })

    it('a quota that is used up: tried again later', async () => {
      const name = 'small'
      await make('/api/v1/namespaces', { metadata: { name } })
      const hard = { 'count/rolebindings.rbac.authorization.k8s.io': '0' }
      const quotas = `/api/v1/namespaces/${name}/resourcequotas`
      const quota = await cluster.call<KubernetesObject>('POST', quotas, {
        body: { metadata: { name }, spec: { hard } },
      })
      // A controller does this elsewhere.
      const status = { hard, used: hard }
      await cluster.call('PUT', `${quotas}/${name}/status`, { body: { ...quota, spec: { hard }, status } })
      const { open } = await openHome(cluster)
      const start = () => open().start(idleSpec('o-1', { origin: { bundle: 'dh-x', namespace: name } }))
      await expect
        .poll(() => start().catch(error => error), { timeout: 60_000 })
        .toMatchObject({
          name: 'RuntimeUnavailableError',
          message: expect.stringMatching(/quota of the cluster is used up/),
        })
      await cluster.remove(`${quotas}/${name}`)
      await expect.poll(() => start().then(() => 'started', String), { timeout: 60_000 }).toBe('started')
      await open().remove('o-1')
    })

    it('a rule that denies it: refused, and nothing is left', async () => {
      const group = '/apis/admissionregistration.k8s.io/v1'
      const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }]
      await make(`${group}/validatingadmissionpolicies`, {
        metadata: { name: 'no-pods' },
        spec: {
          matchConstraints: { resourceRules: rules },
          validations: [{ expression: "object.metadata.name != 'o-denied'", message: 'no pods here' }],
        },
      })
      await make(`${group}/validatingadmissionpolicybindings`, {
        metadata: { name: 'no-pods' },
        spec: { policyName: 'no-pods', validationActions: ['Deny'] },
      })
      // It takes a while until the server knows it.
      const pods = '/api/v1/namespaces/default/pods'
      const probe = { metadata: { name: 'o-denied' }, spec: { containers: [{ name: 'x', image: 'x' }] } }
      const dryRun = () => cluster.call('POST', pods, { body: probe, query: { dryRun: 'All' } }).then(() => '', String)
      await expect.poll(dryRun, { timeout: 60_000 }).toMatch(/no pods here/)
      const { open, leftovers } = await openHome(cluster)
      await expect(open().start(idleSpec('o-denied'))).rejects.toMatchObject(refused(/rule of the cluster forbids/))
      expect(await leftovers()).toEqual([])
    })

    it('one that is refused while another call is still on its way: nothing is left', async () => {
      const { open, leftovers } = await openHome(cluster)
      let late: Promise<unknown> | undefined
      const call: Cluster['call'] = (method, path, options) => {
        if (method === 'POST' && path.endsWith('/secrets'))
          return Promise.reject(new KubernetesError(403, 'Forbidden', 'no secrets here'))
        if (method !== 'POST' || !path.endsWith('/target/rolebindings')) return cluster.call(method, path, options)
        const sent = sleep(systemClock, 1_000).then(() => cluster.call(method, path, options))
        late = sent
        return sent as Promise<never>
      }
      const runtime = open({}, { ...cluster, call })
      const spec = idleSpec('o-1', { origin: { bundle: 'dh-x', namespace: 'target' } })
      await expect(runtime.start(spec)).rejects.toMatchObject(refused(/may not make its sandbox/))
      await late
      expect(await leftovers()).toEqual([])
    })

    it('a watch that has expired: it is begun anew, and the end is seen', async () => {
      const { open, pods } = await openHome(cluster)
      const api = await startApiCounter(cluster)
      let watches = 0
      api.trouble((_turn, path) => {
        watches += path.includes('watch=true') ? 1 : 0
        return path.includes('watch=true') && watches < 4 ? { status: 410, after: 0 } : undefined
      })
      const runtime = open({}, await connectThrough(api))
      await runtime.start(idleSpec('o-1'))
      const ended = runtime.wait('o-1', never())
      await expect.poll(() => watches, { timeout: 60_000 }).toBe(4)
      await setState(`/api/v1/namespaces/${(await pods())[0]?.metadata.namespace}/pods/o-1`, {
        terminated: { exitCode: 0, reason: 'Completed' },
      })
      expect(await ended).toEqual({ kind: 'exited', code: 0 })
      expect(api.requests()).toBeLessThan(60)
      await runtime.remove('o-1')
      await api.stop()
    })

    it('a namespace that somebody deletes: what has not begun is refused, what has is lost', async () => {
      const { open, pods, leftovers } = await openHome(cluster)
      const runtime = open()
      await runtime.start(idleSpec('o-1'))
      const [pod] = await pods()
      await cluster.remove(`/api/v1/namespaces/${pod?.metadata.namespace}`)
      await cluster.remove(`/api/v1/namespaces/${pod?.metadata.namespace}/pods/o-1`)
      // Its pod stays until it is let go, and cannot be made again.
      expect(await runtime.start(idleSpec('o-1'))).toEqual({ attached: true })
      expect(await pods()).toHaveLength(1)
      await runtime.remove('o-1')
      expect(await leftovers()).toEqual([])
    })

    it('a node that is gone: nothing follows before the time is over; then it is lost, and removing ends', {
      timeout: 15_000,
    }, async () => {
      const { open, pods, leftovers } = await openHome(cluster)
      await open().start(idleSpec('o-1'))
      const path = `/api/v1/namespaces/${(await pods())[0]?.metadata.namespace}/pods/o-1`
      // As its controllers say it of a node that they have not heard of for a while.
      const conditions = [{ type: 'Ready', status: 'False', reason: 'NodeNotReady' }]
      await setState(path, { running: { startedAt: new Date().toISOString() } }, { conditions })
      expect(await open().status('o-1')).toEqual({ kind: 'running' })
      let requests = 0
      const later: Cluster = {
        ...cluster,
        clock: { ...cluster.clock, now: () => cluster.clock.now() + 10 * 60_000 },
        find: (...args) => {
          requests += 1
          return cluster.find(...args)
        },
      }
      expect(await open({}, later).status('o-1')).toMatchObject({
        kind: 'lost',
        reason: expect.stringMatching(/its node does not answer/),
      })
      // Nobody waits for what only the node could tell.
      const stream = () => Promise.reject(new Error('the node was asked'))
      expect(await open({}, { ...later, stream }).collect('o-1', [])).toMatchObject({
        outputs: { problems: ['the files that it left cannot be read: its node does not answer'] },
      })
      requests = 0
      await open({}, later).remove('o-1')
      expect(requests).toBeLessThan(10)
      expect(await leftovers()).toEqual([])
    })

    it('a cluster that does not know how to start one container again: the pod is made without that', async () => {
      const { open, pods } = await openHome(cluster)
      const refusals: string[] = []
      // In the words of 1.33.
      const call: Cluster['call'] = (method, path, options) => {
        if (method !== 'POST' || !path.endsWith('/pods') || !JSON.stringify(options?.body).includes('"Always"'))
          return cluster.call(method, path, options)
        const message = 'spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers'
        refusals.push(message)
        return Promise.reject(new KubernetesError(422, 'Invalid', message))
      }
      await open({}, { ...cluster, call }).start(idleSpec('o-1'))
      expect(refusals).toHaveLength(1)
      const policies = async () => ((await pods()) as Pod[])[0]?.spec?.containers?.map(each => each.restartPolicy)
      expect(await policies()).toEqual([undefined, undefined])
      await open().remove('o-1')
      await open().start(idleSpec('o-2'))
      expect(await policies()).toEqual(['Always', undefined])
      await open().remove('o-2')
    })

    it('a node that could not start it: nothing has begun, and whoever asks later is told the same', async () => {
      const { open, pods } = await openHome(cluster)
      await open().start(idleSpec('o-1'))
      const path = `/api/v1/namespaces/${(await pods())[0]?.metadata.namespace}/pods/o-1`
      const message = 'failed to create containerd task: lstat /proc/0/ns/ipc: no such file or directory'
      await setState(path, { terminated: { exitCode: 128, reason: 'StartError', message } })
      const again = { kind: 'refused', reason: 'its node could not start it', again: true }
      expect(await open().status('o-1')).toEqual(again)
      expect(await open().status('o-1')).toEqual(again)
      expect((await open().collect('o-1', [])).log).toContain('/proc/0/ns/ipc')
      await open().remove('o-1')
    })

    it('a user without the right: refused; with it: started', async () => {
      const { open, pods } = await openHome(cluster)
      const runtime = open({ autoEscalate: false })
      const user = { username: 'alice', groups: ['developers'] }
      const spec = (name: string) => idleSpec(name, { origin: { bundle: 'dh-x', namespace: 'target', user } })
      await expect(runtime.start(spec('o-1'))).rejects.toMatchObject(refused(/alice may not have bundles run/))
      await expect(
        runtime.start(idleSpec('o-1', { origin: { bundle: 'dh-x', namespace: 'target' } })),
      ).rejects.toMatchObject(refused(/does not say which user/))
      expect(await pods()).toEqual([])
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      const rules = [{ apiGroups: ['automationbroker.io'], resources: ['access'], verbs: ['create'] }]
      await make(`${rbac}/clusterroles`, { metadata: { name: 'bundles' }, rules })
      await make(`${rbac}/namespaces/target/rolebindings`, {
        metadata: { name: 'bundles' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'bundles' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'developers' }],
      })
      await expect
        .poll(() => runtime.start(spec('o-2')).then(() => 'started', String), { timeout: 60_000 })
        .toBe('started')
      await runtime.remove('o-2')
    })

    it('a target that leads elsewhere: refused, and no right where it leads', async () => {
      const { open } = await openHome(cluster)
      const rights = async () => {
        const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/target/rolebindings'
        return (await listAll<KubernetesObject>(cluster, path)).items.length
      }
      const before = await rights()
      const user = { username: 'admin', groups: ['system:masters'] }
      const origin = { bundle: 'dh-x', namespace: 'elsewhere/../target', user }
      for (const autoEscalate of [false, true])
        await expect(open({ autoEscalate }).start(idleSpec('o-1', { origin }))).rejects.toMatchObject(
          refused(/no namespace can be called "elsewhere\/\.\.\/target"/),
        )
      // Nothing was ever made there: its deletion is for no namespace.
      await open().start(idleSpec('o-2', { origin }, 'deprovision'))
      expect(await rights()).toBe(before)
      await open().remove('o-2')
    })

    it('gets the role of its bundle, in its own namespace and in the target', async () => {
      const { open, pods } = await openHome(cluster)
      const runtime = open({ roles: [{ bundle: 'dh-x', role: 'view' }] })
      await runtime.start(idleSpec('o-1', { origin: { bundle: 'dh-x', namespace: 'target' } }))
      const namespace = (await pods())[0]?.metadata.namespace ?? ''
      for (const place of [namespace, 'target']) {
        const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${place}/rolebindings/${namespace}`
        expect(await cluster.call('GET', path)).toMatchObject({
          roleRef: { name: 'view' },
          subjects: [{ kind: 'ServiceAccount', name: 'o-1', namespace }],
        })
      }
      await runtime.remove('o-1')
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/target/rolebindings/${namespace}`
      expect(await cluster.find(path)).toBeUndefined()
    })

    it('opens a target that has network policies, and closes none that has not', async () => {
      const { open, pods } = await openHome(cluster)
      const policies = (namespace: string) => `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`
      const origin = { bundle: 'dh-x', namespace: 'target' }
      await open().start(idleSpec('o-1', { origin }))
      const first = (await pods())[0]?.metadata.namespace ?? ''
      expect(await cluster.find(`${policies('target')}/${first}`)).toBeUndefined()
      await open().remove('o-1')
      await make(policies('target'), {
        metadata: { name: 'closed' },
        spec: { podSelector: {}, policyTypes: ['Ingress'] },
      })
      await open().start(idleSpec('o-2', { origin, network: 'none' }))
      const second = (await pods())[0]?.metadata.namespace ?? ''
      expect(await cluster.find(`${policies('target')}/${second}`)).toBeDefined()
      expect(await cluster.find(`${policies(second)}/sandbox`)).toMatchObject({
        spec: { policyTypes: ['Ingress', 'Egress'] },
      })
      await open().remove('o-2')
      expect(await cluster.find(`${policies('target')}/${second}`)).toBeUndefined()
    })

    it('an API server that is away: nothing follows from it, and it goes on afterwards', async () => {
      const { open, pods } = await openHome(cluster)
      const hasty = open({}, await server.connect(1_000))
      await hasty.start(idleSpec('o-1'))
      await server.kill()
      expect(await hasty.status('o-1')).toMatchObject({ kind: 'unknown' })
      await expect(hasty.start(idleSpec('o-2'))).rejects.toMatchObject({ name: 'RuntimeUnavailableError' })
      await expect(hasty.remove('o-1')).rejects.toMatchObject({ name: 'RuntimeUnavailableError' })
      await server.restart()
      expect(await hasty.status('o-1')).toEqual({ kind: 'running' })
      expect(await hasty.start(idleSpec('o-1'))).toEqual({ attached: true })
      expect(await pods()).toHaveLength(1)
      await hasty.remove('o-1')
    })
  },
)
