/** What is in the namespace of a sandbox besides the pod. */
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import { SandboxRefusedError, type SandboxSpec } from '../../sandbox.ts'
import type { Layout } from '../inputs.ts'
import { isStateKey, varsFile } from '../inputs.ts'
import { pack } from './archive.ts'
import type { SandboxRecord } from './records.ts'
import { homeLabel, sandboxAnnotation } from './records.ts'
import type { KubernetesSettings } from './settings.ts'

export interface Placed {
  /** The list that it is created in. */
  readonly path: string
  readonly body: KubernetesObject & Readonly<Record<string, unknown>>
}

export const stateMap = 'state'
export const varsSecret = 'extra-vars'
/** Linux takes no longer argument. */
const longestArgument = 128 * 1024 - 1
export const pullSecret = 'pull'
const inputsSecret = 'inputs'
/** A Secret takes 1 MiB, and base64 makes a request a third longer. */
const partBytes = 700_000
/** More than this no cluster takes in one Secret, and nobody needs. */
const mostParts = 20

export function serviceAccountOf(record: SandboxRecord): string {
  return record.name
}

/** The names of the Secrets with the packed inputs, in their order. */
export function partNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${inputsSecret}-${String(index).padStart(2, '0')}`)
}

export function packInputs(layout: Layout): readonly Buffer[] {
  const archive = pack(layout)
  const parts: Buffer[] = []
  for (let at = 0; at < archive.length; at += partBytes) parts.push(archive.subarray(at, at + partBytes))
  if (parts.length > mostParts) throw new SandboxRefusedError('what its action is given is too long for a cluster')
  return parts
}

/** The variables for an entry point that takes them as JSON; undefined for one that takes a file, or where they are too long. */
export function jsonVars({ program }: SandboxSpec, { files }: Pick<Layout, 'files'>): string | undefined {
  const vars = files.find(({ path }) => path === varsFile)?.text
  const readsJson = program.kind === 'image' && program.readsJson === true
  return readsJson && vars !== undefined && Buffer.byteLength(vars) <= longestArgument ? vars : undefined
}

export interface Contents {
  readonly spec: SandboxSpec
  readonly layout: Layout
  readonly record: SandboxRecord
  readonly parts: readonly Buffer[]
  readonly settings: KubernetesSettings
  /** The broker's own Secrets for images. */
  readonly pullSecrets: readonly Readonly<Record<string, string>>[]
  /** Whether the target has network policies, which would keep the bundle out. */
  readonly targetIsClosed: boolean
}

/** In the order in which they are made. */
export function contentsOf(contents: Contents): readonly Placed[] {
  const { spec, layout, record, parts, pullSecrets } = contents
  const { inputs, program } = spec
  const core = `/api/v1/namespaces/${record.namespace}`
  const secret = (name: string, data: Readonly<Record<string, string>>, type = 'Opaque'): Placed => ({
    path: `${core}/secrets`,
    body: { metadata: { name }, type, data },
  })
  const credentials = program.kind === 'image' ? program.credentials : undefined
  const docker = toDockerConfig(program.kind === 'image' ? program.image : '', credentials)
  const state = { data: inputs.state }
  const vars = jsonVars(spec, layout)
  return [
    { path: `${core}/serviceaccounts`, body: { metadata: { name: serviceAccountOf(record) } } },
    ...roleBindings(contents),
    ...networkPolicies(contents),
    ...parts.map((part, index) => secret(partNames(parts.length)[index] ?? '', { part: part.toString('base64') })),
    ...(inputs.secrets ?? []).flatMap(({ name, entries }) =>
      isObjectName(name) ? [secret(name, toData(entries))] : [],
    ),
    ...(vars === undefined ? [] : [secret(varsSecret, { vars: base64(vars) })]),
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
