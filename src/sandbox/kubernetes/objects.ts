/** What is in the namespace of a sandbox besides the pod. */
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import type { SandboxSpec } from '../../sandbox.ts'
import { isStateKey } from '../inputs.ts'
import type { CarriedInputs } from './inputs.ts'
import type { SandboxRecord } from './records.ts'
import { homeLabel, sandboxAnnotation } from './records.ts'
import type { KubernetesSettings } from './settings.ts'

export interface Placed {
  /** The list that it is created in. */
  readonly path: string
  readonly body: KubernetesObject & Readonly<Record<string, unknown>>
}

export const stateMap = 'state'
export const pullSecret = 'pull'

export function serviceAccountOf(record: SandboxRecord): string {
  return record.name
}

export interface Contents {
  readonly spec: SandboxSpec
  readonly record: SandboxRecord
  readonly carried: CarriedInputs
  readonly settings: KubernetesSettings
  /** The broker's own Secrets for images. */
  readonly pullSecrets: readonly Readonly<Record<string, string>>[]
  /** Whether the target has network policies, which would keep the bundle out. */
  readonly targetIsClosed: boolean
}

/** In any order, all before the pod. */
export function contentsOf(contents: Contents): readonly Placed[] {
  const { spec, record, carried, pullSecrets } = contents
  const { inputs, program } = spec
  const core = `/api/v1/namespaces/${record.namespace}`
  const secret = (name: string, data: Readonly<Record<string, string>>, type = 'Opaque'): Placed => ({
    path: `${core}/secrets`,
    body: { metadata: { name }, type, data },
  })
  const credentials = program.kind === 'image' ? program.credentials : undefined
  const docker = toDockerConfig(program.kind === 'image' ? program.image : '', credentials)
  const state = { data: inputs.state }
  return [
    { path: `${core}/serviceaccounts`, body: { metadata: { name: serviceAccountOf(record) } } },
    ...roleBindings(contents),
    ...networkPolicies(contents),
    ...Object.entries(carried.secrets).map(([name, data]) => secret(name, data)),
    ...(inputs.secrets ?? []).flatMap(({ name, entries }) =>
      isObjectName(name) ? [secret(name, toData(entries))] : [],
    ),
    ...(docker === undefined ? [] : [secret(pullSecret, { '.dockerconfigjson': docker }, dockerType)]),
    ...pullSecrets.map((data, index) => secret(`${pullSecret}-${index}`, data, dockerType)),
    // What it was given, to be mounted, and its own, to be written to.
    ...(Object.keys(inputs.state).length === 0
      ? []
      : [stateMap, record.name].map(name => ({ path: `${core}/configmaps`, body: { metadata: { name }, ...state } }))),
  ]
}

const dockerType = 'kubernetes.io/dockerconfigjson'

/** Whether a Secret, and a volume, can have this name. */
export function isObjectName(name: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/.test(name)
}

function toData(entries: Readonly<Record<string, unknown>>): Record<string, string> {
  const usable = Object.entries(entries).filter(([key]) => isStateKey(key))
  return Object.fromEntries(
    usable.map(([key, value]) => [key, base64(typeof value === 'string' ? value : JSON.stringify(value))]),
  )
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function toDockerConfig(
  image: string,
  credentials: { readonly username: string; readonly password: string } | undefined,
): string | undefined {
  if (credentials === undefined) return undefined
  const [first = ''] = image.split('/')
  const host = /[.:]|^localhost$/.test(first) && image.includes('/') ? first : 'https://index.docker.io/v1/'
  const { username, password } = credentials
  return base64(JSON.stringify({ auths: { [host]: { username, password, auth: base64(`${username}:${password}`) } } }))
}

/** In its own namespace, and in the one that the service is for. */
function roleBindings({ record, settings }: Contents): readonly Placed[] {
  const role = settings.roles.find(({ bundle }) => bundle === record.bundle)?.role ?? settings.sandboxRole
  const group = 'rbac.authorization.k8s.io'
  const body = {
    metadata: {
      name: record.namespace,
      labels: { [homeLabel]: record.home },
      annotations: { [sandboxAnnotation]: record.name },
    },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: serviceAccountOf(record), namespace: record.namespace }],
  }
  return [record.namespace, ...(record.target === undefined ? [] : [record.target])].map(namespace => ({
    path: `/apis/${group}/v1/namespaces/${namespace}/rolebindings`,
    body,
  }))
}

function networkPolicies({ spec, record, targetIsClosed }: Contents): readonly Placed[] {
  const pathOf = (namespace: string) => `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`
  const labels = { [homeLabel]: record.home }
  const own: Placed = {
    path: pathOf(record.namespace),
    body: {
      metadata: { name: 'sandbox', labels },
      spec: { podSelector: {}, policyTypes: ['Ingress', ...(spec.network === 'none' ? ['Egress'] : [])] },
    },
  }
  if (record.target === undefined || !targetIsClosed) return [own]
  // Only where there are others: the first one would close a namespace that is open.
  const from = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': record.namespace } } }]
  return [
    own,
    {
      path: pathOf(record.target),
      body: {
        metadata: { name: record.namespace, labels, annotations: { [sandboxAnnotation]: record.name } },
        spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from }] },
      },
    },
  ]
}
