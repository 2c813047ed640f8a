/** What a bundle has left in its pod, and in the API as bundles of the Automation Broker do it. */
import type { Cluster } from '../../kubernetes/cluster.ts'
import { execIn } from '../../kubernetes/exec.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import { isJsonObject, parseJson } from '../../protocol/json.ts'
import type { SandboxOutputs } from '../../sandbox.ts'
import { createRedactor } from '../../sensitive/redact.ts'
import { collectOutputs, isWebAddress, toState } from '../outputs.ts'
import { type End, type ReadEnd, unreadable } from '../read-output-file.ts'
import { outputFiles, readScript } from './keeper.ts'
import { stateMap } from './objects.ts'
import { keeperContainer } from './pod.ts'
import { type Pod, terminatedOf, whyNoFiles } from './pod-status.ts'
import type { SandboxRecord } from './records.ts'

/** Base64 of three long files, and the rest. */
const mostBytes = 8 * 1024 * 1024

/** Reads all files that a bundle may have left, at once, through the keeper. */
export async function readFiles(cluster: Cluster, record: SandboxRecord): Promise<ReadEnd> {
  const target = { namespace: record.namespace, pod: record.name, container: keeperContainer }
  const said = await execIn(cluster, target, ['/bin/busybox', 'sh', '-c', readScript(outputFiles)], mostBytes)
  const files = new Map(said.split('\n').map(line => [line.split(' ')[0] ?? '', line] as const))
  return async name => toFile(name, files.get(name))
}

/** A line of the keeper. */
export function toFile(name: string, line: string | undefined): End {
  const [, kind = '', size, content = ''] = line?.split(' ') ?? []
  if (line === undefined) return {}
  if (kind === 'file') return { bytes: Buffer.from(content, 'base64'), size: Number(size) }
  return { problem: (kind === 'link' || kind === 'closed' ? unreadable[kind] : unreadable.other)(name) }
}

const noFiles: ReadEnd = async () => ({})

export interface CollectParts {
  readonly cluster: Cluster
  readonly record: SandboxRecord
  readonly pod: Pod
  readonly secrets: readonly string[]
  /** Its node does not answer. */
  readonly isSilent: boolean
  /** How long the keeper may wait for its image. */
  readonly startTimeout: number
}

/** Files win over what is in the API. */
export async function collectPodOutputs(parts: CollectParts): Promise<SandboxOutputs> {
  const { cluster, record, pod, secrets } = parts
  // Only of what is used.
  const [ofFields, ofState]: [string[], string[]] = [[], []]
  const lost = parts.isSilent
    ? 'the files that it left cannot be read: its node does not answer'
    : whyNoFiles(pod, { now: cluster.clock.now(), start: parts.startTimeout })
  const read = async () => collectOutputs(lost === undefined ? await readFiles(cluster, record) : noFiles, secrets)
  const [files, fields, state] = await Promise.all([
    read(),
    readFields(cluster, record, ofFields),
    readStateMap(cluster, record, ofState),
  ])
  const problems = [
    ...files.problems,
    ...(files.credentials === undefined ? ofFields : []),
    ...(files.state === undefined ? ofState : []),
  ]
  if (lost !== undefined) problems.push(lost)
  const { apb_dashboard_url: dashboard, apb_last_operation: progress } = pod.metadata.annotations ?? {}
  if (dashboard !== undefined && !isWebAddress(dashboard))
    problems.push('the annotation apb_dashboard_url is not an http or https address; write one')
  const redact = createRedactor(secrets)
  const message = terminatedOf(pod)?.message?.trim()
  return {
    ...files,
    credentials: files.credentials ?? fields,
    dashboardUrl: files.dashboardUrl ?? (dashboard !== undefined && isWebAddress(dashboard) ? dashboard : undefined),
    message: files.message ?? (message ? redact(message) : undefined),
    state: files.state ?? state,
    progress: files.progress ?? (progress === undefined ? undefined : redact(progress)),
    problems,
  }
}

interface DataObject extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>
}

/** The Secret that has the pod's name; its `fields` are credentials, as JSON. */
async function readFields(cluster: Cluster, { namespace, name }: SandboxRecord, problems: string[]) {
  const secret = await cluster.find<DataObject>(`/api/v1/namespaces/${namespace}/secrets/${name}`)
  const fields = secret?.data?.fields
  if (fields === undefined) return undefined
  const value = parseJson(Buffer.from(fields, 'base64').toString())
  if (isJsonObject(value)) return value
  problems.push('the "fields" of the Secret that is named as its pod are not a JSON object; write one')
  return undefined
}

/** The ConfigMap that has the pod's name: what in it is not as it was given. */
async function readStateMap(cluster: Cluster, { namespace, name }: SandboxRecord, problems: string[]) {
  const maps = `/api/v1/namespaces/${namespace}/configmaps`
  const written = (await cluster.find<DataObject>(`${maps}/${name}`))?.data
  if (written === undefined) return undefined
  const given = (await cluster.find<DataObject>(`${maps}/${stateMap}`))?.data ?? {}
  const changes = Object.entries(written).filter(([key, value]) => given[key] !== value)
  return changes.length === 0 ? undefined : toState('the state ConfigMap', Object.fromEntries(changes), problems)
}
