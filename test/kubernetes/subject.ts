import { randomBytes } from 'node:crypto'
import { connectCluster } from '../../src/kubernetes/cluster.ts'
import { listAll } from '../../src/kubernetes/list.ts'
import type { KubernetesObject } from '../../src/kubernetes/objects.ts'
import { createKubernetesRuntime } from '../../src/sandbox/kubernetes/kubernetes-runtime.ts'
import { homeLabel } from '../../src/sandbox/kubernetes/records.ts'
import type { PodSettings } from '../../src/sandbox/kubernetes/settings.ts'
import type { Runtime } from '../../src/sandbox.ts'
import type { SandboxSubject } from '../../src/testing/sandbox-contract.ts'
import { connectNode } from '../external/kubernetes.ts'
import { makeScriptImage } from '../external/kubernetes-image.ts'
import { clockAhead } from '../sandbox/clocks.ts'
import { survivors } from '../sandbox/process-subject.ts'

/** An image with busybox, for the programs of ours. */
export const toolsImage = 'localhost/purser-test-tools:1'

export const testSettings: PodSettings = {
  toolsImage,
  sandboxRole: 'edit',
  roles: [],
  autoEscalate: true,
  pullSecrets: [],
  startTimeout: 300_000,
  disk: 100_000_000,
  copies: false,
  nodeSelector: {},
  user: { uid: 65534, gid: 65534 },
}

/** A namespace that a broker is at home in. */
export async function createHome(): Promise<string> {
  const cluster = await connectNode()
  const name = `purser-home-${randomBytes(4).toString('hex')}`
  await cluster.call('POST', '/api/v1/namespaces', { body: { metadata: { name } } })
  return name
}

export async function openRuntime(home: string, settings: Partial<PodSettings> = {}, ahead = 0): Promise<Runtime> {
  const cluster = await connectCluster({}, { clock: clockAhead(ahead), env: process.env })
  return createKubernetesRuntime(cluster, { ...testSettings, namespace: home, ...settings })
}

/** Everything of a broker that is not a note of what was removed, nor on its way out. */
export async function leftoversOf(home: string): Promise<readonly string[]> {
  const cluster = await connectNode()
  const labels = `${homeLabel}=${home}`
  const left: string[] = []
  const paths = ['/api/v1/namespaces', '/apis/rbac.authorization.k8s.io/v1/rolebindings', '/api/v1/pods']
  for (const path of [...paths, '/apis/networking.k8s.io/v1/networkpolicies'])
    for (const { metadata } of (await listAll<KubernetesObject>(cluster, path, { labels })).items) {
      const place = await cluster.find<KubernetesObject>(`/api/v1/namespaces/${metadata.namespace ?? metadata.name}`)
      const leaves = metadata.deletionTimestamp ?? place?.metadata.deletionTimestamp
      if (leaves === undefined) left.push(`${path} ${metadata.namespace ?? ''}/${metadata.name}`)
    }
  return left
}

/** The pod of a sandbox. */
export async function findPod<Found extends KubernetesObject>(home: string, name: string): Promise<Found | undefined> {
  const { items } = await listAll<Found>(await connectNode(), '/api/v1/pods', { labels: `${homeLabel}=${home}` })
  return items.find(({ metadata }) => metadata.name === name)
}

export async function destroyHome(home: string): Promise<void> {
  const runtime = await openRuntime(home)
  for (const { name } of await runtime.list()) await runtime.remove(name)
  await (await connectNode()).remove(`/api/v1/namespaces/${home}`)
}

export async function createKubernetesSubject(): Promise<SandboxSubject> {
  const home = await createHome()
  return {
    open: ahead => openRuntime(home, {}, ahead),
    program: async script => ({ kind: 'image', image: await makeScriptImage(script), pull: 'never' }),
    isolates: false,
    survivors,
    leftovers: () => leftoversOf(home),
    destroy: () => destroyHome(home),
  }
}
