import type { Cluster } from '../../kubernetes/cluster.ts'
import { isStatus, type KubernetesError } from '../../kubernetes/errors.ts'
import type { KubernetesList, KubernetesObject } from '../../kubernetes/objects.ts'
import { RuntimeUnavailableError, SandboxRefusedError, type SandboxSpec } from '../../sandbox.ts'
import { asImage } from '../container/image.ts'
import { placesInside } from '../container/to-container.ts'
import { layOut } from '../inputs.ts'
import { wasRemoved } from '../owner.ts'
import { all } from './all.ts'
import { carryInputs } from './inputs.ts'
import { contentsOf, type Placed } from './objects.ts'
import { originalLabels, type PodParts, toPod } from './pod.ts'
import { homeLabel, type Records, type SandboxRecord, sandboxAnnotation } from './records.ts'
import type { PodSettings } from './settings.ts'
import { isDeletion, targetOf } from './target.ts'

const givesCredentials = new Set(['provision', 'update', 'bind'])

export interface Starting {
  readonly cluster: Cluster
  readonly records: Records
  readonly home: string
  readonly settings: PodSettings
}

export interface Started {
  readonly record: SandboxRecord
  /** It was there already. */
  readonly attached: boolean
}

/** Starts the sandbox, or finds that it was started. */
export async function start(context: Starting, spec: SandboxSpec): Promise<Started> {
  const { cluster, settings } = context
  const layout = layOut(spec.inputs, placesInside)
  const carried = carryInputs(spec, layout)
  const { record, isNew } = await recordFor(context, spec)
  if (record.refused !== undefined) return { record, attached: true }
  const pods = `/api/v1/namespaces/${record.namespace}/pods`
  if (!isNew && (await cluster.find(`${pods}/${record.name}`)) !== undefined) return { record, attached: true }
  const [pullSecrets, targetIsClosed] = await Promise.all([readPullSecrets(context), isClosed(cluster, record)])
  const contents = contentsOf({ spec, record, carried, settings, pullSecrets, targetIsClosed })
  await all(contents.map(object => createUnlessGone(cluster, object, record, spec)))
  // The last one: nothing runs before, and the pod's name can be there once.
  const parts = { spec, record, layout, carried, pullSecrets: pullSecrets.length, settings }
  return { record, attached: !(await createPod(cluster, pods, parts)) }
}

/** Clusters before 1.34 refuse a pod that says of one container when it is started again. There, the keeper is not. */
async function createPod(cluster: Cluster, path: string, parts: Omit<PodParts, 'restartsKeeper'>): Promise<boolean> {
  try {
    return await create(cluster, { path, body: toPod({ ...parts, restartsKeeper: true }) })
  } catch (error) {
    if (!isStatus(error, 422) || !error.message.includes('restartPolicy')) throw error
    return create(cluster, { path, body: toPod({ ...parts, restartsKeeper: false }) })
  }
}

/** The namespace is made first: whatever the record names was there, and once it is deleted nobody can make it again. */
async function recordFor(
  context: Starting,
  spec: SandboxSpec,
): Promise<{ readonly record: SandboxRecord; readonly isNew: boolean }> {
  const { cluster, records, home } = context
  const target = targetOf(spec)
  for (;;) {
    const found = await records.find(spec.name)
    if (found?.kind === 'live') return { record: found.record, isNew: false }
    if (found?.kind === 'removed') throw wasRemoved(spec.name)
    const namespace = await createNamespace(cluster, home, spec)
    const record: SandboxRecord = {
      name: spec.name,
      home,
      namespace,
      target,
      bundle: spec.origin?.bundle,
      labels: spec.labels,
      createdAt: cluster.clock.now(),
      time: spec.limits.time,
      output: spec.limits.output,
      keepsCredentials: givesCredentials.has(spec.inputs.action) && asImage(spec.program).keepsCredentials,
    }
    if (await records.create(record)) return { record, isNew: true }
    // Somebody else was faster.
    await cluster.remove(`/api/v1/namespaces/${namespace}`)
  }
}

async function createNamespace(cluster: Cluster, home: string, spec: SandboxSpec): Promise<string> {
  const { name, inputs, origin } = spec
  const prefix = (origin?.bundle ?? 'purser')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .replace(/^-+/, '')
    .slice(0, 46)
  const metadata = {
    generateName: `${prefix || 'purser'}-${inputs.action.slice(0, 4)}-`,
    labels: {
      [homeLabel]: home,
      'pod-security.kubernetes.io/enforce': 'baseline',
      ...originalLabels(spec, { name, bundle: origin?.bundle }),
    },
    annotations: { [sandboxAnnotation]: name },
  }
  const made = await cluster.call<KubernetesObject>('POST', '/api/v1/namespaces', { body: { metadata } })
  return made.metadata.name ?? ''
}

/** What is taken away may have been in a namespace that is gone, or going: the bundle then gets no right there. */
async function createUnlessGone(
  cluster: Cluster,
  object: Placed,
  { target }: SandboxRecord,
  spec: SandboxSpec,
): Promise<void> {
  const isOptional = isDeletion(spec) && target !== undefined && object.path.includes(`/namespaces/${target}/`)
  try {
    await create(cluster, object)
  } catch (error) {
    if (!isOptional || !(isStatus(error, 404) || isBeingTerminated(error))) throw error
  }
}

function isBeingTerminated(error: unknown): boolean {
  return isStatus(error, 403) && /being terminated/.test(error.message)
}

/** False where it is there already. */
async function create(cluster: Cluster, { path, body }: Placed): Promise<boolean> {
  try {
    await cluster.call('POST', path, { body })
    return true
  } catch (error) {
    if (isStatus(error, 409)) return false
    throw error
  }
}

async function readPullSecrets({ cluster, home, settings }: Starting): Promise<readonly Record<string, string>[]> {
  const found = settings.pullSecrets.map(async name => {
    const secret = await cluster.find<{ data?: Record<string, string> }>(`/api/v1/namespaces/${home}/secrets/${name}`)
    if (secret?.data === undefined)
      throw new SandboxRefusedError('a Secret for its image is missing; see bundles.kubernetes.pullSecrets', {
        cause: new Error(`there is no Secret ${name} in the namespace ${home}`),
      })
    return secret.data
  })
  return Promise.all(found)
}

async function isClosed(cluster: Cluster, { target }: SandboxRecord): Promise<boolean> {
  if (target === undefined) return false
  const path = `/apis/networking.k8s.io/v1/namespaces/${target}/networkpolicies`
  const { items } = await cluster.call<KubernetesList<KubernetesObject>>('GET', path, { query: { limit: 1 } })
  return items.length > 0
}

/** What it means for a start that the cluster says no. */
export function toRefusal(error: KubernetesError): Error {
  const { status, message } = error
  if (isBeingTerminated(error))
    return new SandboxRefusedError('a namespace that it needs was deleted before it began', { cause: error })
  if (/exceeded quota/.test(message))
    return new RuntimeUnavailableError(`a quota of the cluster is used up: ${message}`, { cause: error })
  if (/admission webhook|denied the request|ValidatingAdmissionPolicy|violates PodSecurity/.test(message))
    return new SandboxRefusedError('a rule of the cluster forbids its sandbox', { cause: error })
  if (status === 403 || status === 401)
    return new SandboxRefusedError('the broker may not make its sandbox in the cluster; give it the rights it needs', {
      cause: error,
    })
  if (status === 404) return new SandboxRefusedError('the namespace that it is for is not there', { cause: error })
  return new SandboxRefusedError('the cluster refuses to make its sandbox', { cause: error })
}
