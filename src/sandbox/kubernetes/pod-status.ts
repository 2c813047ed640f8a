/** What the cluster says about a pod, and what follows from it. Pure. */
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import type { SandboxStatus } from '../../sandbox.ts'
import { bundleContainer, keeperContainer } from './pod.ts'

export interface Pod extends KubernetesObject {
  readonly spec?: {
    readonly nodeName?: string
    readonly containers?: readonly { readonly name: string; readonly restartPolicy?: string }[]
  }
  readonly status?: {
    readonly phase?: string
    readonly reason?: string
    readonly message?: string
    readonly startTime?: string
    readonly conditions?: readonly Condition[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
    readonly containerStatuses?: readonly ContainerStatus[]
  }
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export interface ContainerStatus {
  readonly name: string
  readonly restartCount?: number
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string }
    readonly running?: { readonly startedAt?: string }
    readonly terminated?: Terminated
  }
}

interface Terminated {
  readonly exitCode: number
  readonly reason?: string
  readonly message?: string
  readonly startedAt?: string
  readonly finishedAt?: string
}

export interface Patience {
  readonly now: number
  /** How long it may wait for a node or an image. */
  readonly start: number
  /** How long it may run. */
  readonly time: number
}

/** What a node may take to end a pod after its time, and clocks may differ by. */
const graceMs = 2 * 60_000

/**
 * How a sandbox is; `undefined` stands for a pod that is not there any more. `refused` means here that it should be ended before
 * anything starts in it.
 */
export function toStatus(pod: Pod | undefined, patience: Patience): SandboxStatus {
  if (pod === undefined) return { kind: 'lost', reason: 'its namespace is gone: somebody has deleted it' }
  const { phase, reason, message = '' } = pod.status ?? {}
  if (reason === 'Evicted' && printedTooMuch.test(message)) return { kind: 'exited', code: killed, stopped: 'output' }
  const ended = terminatedOf(pod)
  if (ended !== undefined) return toEnd(pod, ended)
  const unpacked = unpackedOf(pod)
  if (unpacked !== undefined && unpacked.exitCode !== 0 && reason === undefined)
    return notStarted(unpacked, 'its inputs could not be laid out')
  if (phase === 'Failed' || phase === 'Succeeded') return { kind: 'lost', reason: sayEnd(reason) }
  const started = startedAt(pod)
  if (started !== undefined) return isLost(pod, started, patience) ? nodeLost(pod) : { kind: 'running' }
  const trouble = troubleOf(pod)
  const waited = patience.now - Date.parse(pod.metadata.creationTimestamp ?? '')
  if (trouble !== undefined && (trouble.final || waited > patience.start))
    return { kind: 'refused', reason: trouble.reason }
  return waited > patience.start + graceMs && pod.spec?.nodeName === undefined
    ? { kind: 'refused', reason: 'no node took its pod in time; see whether the scheduler of the cluster runs' }
    : { kind: 'running' }
}

/** What keeps a pod from starting; undefined where nothing does. */
export function waitingFor(pod: Pod): string | undefined {
  const isWaiting = startedAt(pod) === undefined && terminatedOf(pod) === undefined
  return isWaiting ? troubleOf(pod)?.reason : undefined
}

export function terminatedOf(pod: Pod): Terminated | undefined {
  return statusOf(pod)?.state?.terminated
}

/** Milliseconds since 1970; undefined where the bundle has not started. */
export function startedAt(pod: Pod): number | undefined {
  const running = statusOf(pod)?.state?.running
  return running === undefined ? undefined : Date.parse(running.startedAt ?? '')
}

/** Whether everything in it has ended, or never began. */
export function isOver({ status = {}, metadata }: Pod): boolean {
  return ['Failed', 'Succeeded'].includes(status.phase ?? '') || metadata.deletionGracePeriodSeconds === 0
}

function statusOf({ status }: Pod, container = bundleContainer): ContainerStatus | undefined {
  return status?.containerStatuses?.find(({ name }) => name === container)
}

/** How the program ended that unpacks the inputs: the only one that runs before the bundle. */
function unpackedOf({ status }: Pod): Terminated | undefined {
  return status?.initContainerStatuses?.[0]?.state?.terminated
}

/**
 * Why nobody can read the files of a bundle that has ended; undefined where the keeper can be asked, or will be there soon: it may start
 * after the bundle has ended, and again.
 */
export function whyNoFiles(pod: Pod, { now, start }: Pick<Patience, 'now' | 'start'>): string | undefined {
  const { running, terminated } = statusOf(pod, keeperContainer)?.state ?? {}
  const keeper = pod.spec?.containers?.find(({ name }) => name === keeperContainer)
  const isGone = terminated !== undefined && keeper?.restartPolicy !== 'Always'
  if (isGone || isOver(pod)) return 'the files that it left went with its pod, before a broker could read them'
  const waited = now - Date.parse(terminatedOf(pod)?.finishedAt ?? pod.metadata.creationTimestamp ?? '')
  return running === undefined && waited > start
    ? 'the files that it left cannot be read: the program that does so has not started; see "bundles.kubernetes.toolsImage"'
    : undefined
}

function toEnd({ status = {}, metadata }: Pod, ended: Terminated): SandboxStatus {
  const { exitCode, reason } = ended
  if (reason === 'OOMKilled') return { kind: 'exited', code: exitCode, stopped: 'memory' }
  // The kubelet has no word about how it ended.
  if (reason === 'ContainerStatusUnknown') return { kind: 'lost', reason: sayEnd(status.reason) }
  if (reason === 'ContainerCannotRun' || reason === 'StartError')
    return notStarted(ended, 'the entry point of its image cannot be run; correct the image')
  if (status.reason === 'Evicted') return { kind: 'lost', reason: sayEnd(status.reason) }
  if (metadata.deletionTimestamp !== undefined && [137, 143].includes(exitCode))
    return { kind: 'lost', reason: 'its pod was deleted while it ran, by somebody or because its node was emptied' }
  if (status.reason === 'DeadlineExceeded' && exitCode === 137)
    return { kind: 'exited', code: exitCode, stopped: 'time' }
  return { kind: 'exited', code: exitCode }
}

/**
 * What a bundle prints is on the disk of its node, which may notice that it is too much before a broker does, or while there is
 * none. The folders that it writes to are volumes with limits of their own, and the limit of the
 * whole pod has room for them.
 */
const printedTooMuch = new RegExp(
  `^(Container ${bundleContainer} exceeded its local ephemeral storage limit|Pod ephemeral local storage usage exceeds)`,
)
/** Nothing of the bundle has run. What its node could not do, another pod may get. */
function notStarted({ message = '' }: Terminated, reason: string): SandboxStatus {
  return faultOfNode.test(message)
    ? { kind: 'refused', reason: 'its node could not start it', again: true }
    : { kind: 'refused', reason }
}

/**
 * What says nothing about the image. A busy containerd may take the first process of a pod for process 0, whose namespaces nobody
 * can join.
 */
const faultOfNode =
  /\/proc\/0\/ns\/|deadline exceeded|ttrpc: closed|resource temporarily unavailable|cannot allocate memory|too many open files|no space left/i

/** As a shell says it of one that got SIGKILL. */
const killed = 137

function sayEnd(reason: string | undefined): string {
  if (reason === 'Evicted')
    return `its pod was evicted from its node; see "bundles.kubernetes.disk" and what the node has`
  if (reason === 'NodeLost') return 'its node was lost'
  if (reason === 'DeadlineExceeded') return 'its pod had reached its deadline before anybody looked'
  if (reason === 'NodeShutdown' || reason === 'Terminated') return 'its node was shut down'
  return 'its pod has failed'
}

/** The cluster's own words, for operators: they may name nodes, images and paths, which no platform reads. */
export function detailOf({ status = {} }: Pod): string {
  const { initContainerStatuses = [], containerStatuses = [], conditions = [] } = status
  const states = [...initContainerStatuses, ...containerStatuses].flatMap(({ name, state }) => {
    const { reason, message = '' } = state?.waiting ?? state?.terminated ?? {}
    return reason === undefined || reason === 'Completed' ? [] : [`${name}: ${reason} ${message}`]
  })
  const unmet = conditions.flatMap(({ status, reason, message = '' }) =>
    status === 'False' && message !== '' ? [`${reason}: ${message}`] : [],
  )
  const own = status.reason === undefined ? [] : [`${status.reason}: ${status.message ?? ''}`]
  return [...own, ...states, ...unmet].join('\n')
}

/** A node that does not answer may still run it, until its time is over. */
function isLost({ status, metadata }: Pod, started: number, { now, time }: Patience): boolean {
  const silent =
    status?.reason === 'NodeLost' || metadata.deletionTimestamp !== undefined || !isReady(status?.conditions)
  return silent && now - started > time + graceMs
}

function isReady(conditions: readonly Condition[] = []): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

function nodeLost(pod: Pod): SandboxStatus {
  const keeper = statusOf(pod, keeperContainer)
  const why =
    keeper?.state?.waiting === undefined
      ? 'its node does not answer'
      : 'what keeps its time has not started (see "bundles.kubernetes.toolsImage")'
  return { kind: 'lost', reason: `${why}, and its time is over` }
}

interface Trouble {
  readonly reason: string
  /** Waiting does not help. */
  readonly final: boolean
}

function troubleOf({ status = {} }: Pod): Trouble | undefined {
  const { initContainerStatuses = [], containerStatuses = [], conditions = [] } = status
  for (const container of [...initContainerStatuses, ...containerStatuses]) {
    const { waiting } = container.state ?? {}
    const trouble = waiting && troubles[waiting.reason ?? '']?.(container, waiting.message ?? '')
    if (trouble !== undefined) return trouble
  }
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.reason !== 'Unschedulable') return undefined
  return { reason: 'no node has room for its pod', final: false }
}

const refusedByRegistry =
  /not found|manifest unknown|name unknown|unauthorized|denied|authorization failed|no basic auth/i

function cannotPull({ name }: ContainerStatus, message: string): Trouble {
  const whose = name === bundleContainer ? 'its image' : 'the image of bundles.kubernetes.toolsImage'
  return { reason: `${whose} cannot be pulled`, final: refusedByRegistry.test(message) }
}

const troubles: Readonly<Record<string, (container: ContainerStatus, message: string) => Trouble>> = {
  ErrImagePull: cannotPull,
  ImagePullBackOff: cannotPull,
  RegistryUnavailable: cannotPull,
  ErrImageNeverPull: () => ({
    reason: `its image is not on the node, and bundles.pull is never`,
    final: true,
  }),
  InvalidImageName: () => ({ reason: `its image has a wrong name`, final: true }),
  CreateContainerConfigError: () => ({
    reason: `its container cannot be made`,
    final: false,
  }),
  CreateContainerError: () => ({
    reason: `its container cannot be made`,
    final: false,
  }),
}
