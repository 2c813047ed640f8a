import { randomBytes } from 'node:crypto'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { listAll } from '../../src/kubernetes/list.ts'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import { createKubernetesRuntime } from '../../src/sandbox/kubernetes/kubernetes-runtime.ts'
import { homeLabel } from '../../src/sandbox/kubernetes/records.ts'
import type { PodSettings } from '../../src/sandbox/kubernetes/settings.ts'
import type { Runtime, SandboxSpec } from '../../src/sandbox.ts'
import { testSettings } from './subject.ts'

/** A sandbox that nobody will run: there is no node. */
export function idleSpec(name: string, more: Partial<SandboxSpec> = {}, action = 'provision'): SandboxSpec {
  return {
    name,
    labels: { 'purser.operation': name },
    program: { kind: 'image', image: 'localhost/none:1', pull: 'never' },
    inputs: { action, input: {}, extraVars: {}, state: { key: 'value' }, helpers: {}, env: {} },
    limits: { time: 60_000 },
    network: 'allowed',
    ...more,
  }
}

/** A broker's home on an API server. */
export async function openHome(cluster: Cluster) {
  const home = `home-${randomBytes(4).toString('hex')}`
  await cluster.call('POST', '/api/v1/namespaces', { body: { metadata: { name: home } } })
  const labels = `${homeLabel}=${home}`
  const list = async (path: string) => (await listAll<KubernetesObject>(cluster, path, { labels })).items
  return {
    home,
    open: (settings: Partial<PodSettings> = {}, by: Cluster = cluster): Runtime =>
      createKubernetesRuntime(by, { ...testSettings, namespace: home, ...settings }),
    pods: () => list('/api/v1/pods'),
    /** Nothing finishes the deletion of a namespace here: one that is on its way out is gone, with all that is in it. */
    async leftovers(): Promise<readonly string[]> {
      const namespaces = await list('/api/v1/namespaces')
      const alive = namespaces.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      const gone = new Set(namespaces.filter(each => !alive.includes(each)).map(({ metadata }) => metadata.name))
      const others = [
        ...(await list('/api/v1/pods')),
        ...(await list('/apis/rbac.authorization.k8s.io/v1/rolebindings')),
        ...(await list('/apis/networking.k8s.io/v1/networkpolicies')),
      ].filter(({ metadata }) => !gone.has(metadata.namespace))
      return [...alive, ...others].map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`)
    },
  }
}

/** Says of a pod what a node would say: it was placed, and its bundle is in that state. */
export async function setBundleState(cluster: Cluster, path: string, state: object, more: object = {}): Promise<void> {
  const name = path.split('/').at(-1) ?? ''
  const body = { metadata: { name }, target: { kind: 'Node', name: 'gone' } }
  await cluster.call('POST', `${path}/binding`, { body })
  const containerStatuses = [{ name: 'bundle', state, image: '', imageID: '', ready: false, restartCount: 0 }]
  const status = { phase: 'Running', containerStatuses, ...more }
  await cluster.call('PATCH', `${path}/status`, { body: { status }, contentType: 'application/merge-patch+json' })
}

export class Crash extends Error {}

/** A cluster as one process sees it that dies at its nth call: before the cluster hears of it, or before it hears the answer. */
export function mortal(cluster: Cluster, deathAt: number, moment: 'before' | 'after') {
  let calls = 0
  const dying =
    <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      calls += 1
      if (calls > deathAt || (calls === deathAt && moment === 'before')) throw new Crash()
      const result = await work(...args)
      if (calls >= deathAt) throw new Crash()
      return result
    }
  const seen = {
    ...cluster,
    call: dying(cluster.call),
    find: dying(cluster.find),
    update: dying(cluster.update),
    remove: dying(cluster.remove),
  } as Cluster
  return { cluster: seen, calls: () => calls }
}
