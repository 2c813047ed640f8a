import { sleep } from '../../clock.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { ClusterUnavailableError, isStatus, KubernetesError } from '../../kubernetes/errors.ts'
import { execIn } from '../../kubernetes/exec.ts'
import {
  type Collected,
  checkName,
  type FoundSandbox,
  type KeptCopy,
  type Runtime,
  RuntimeUnavailableError,
  SandboxRefusedError,
  type SandboxStatus,
  type Stop,
} from '../../sandbox.ts'
import { createRedactor } from '../../sensitive/redact.ts'
import { readProgress } from '../outputs.ts'
import type { FileEnd } from '../read-output-file.ts'
import { tailOf } from '../redact.ts'
import { all } from './all.ts'
import { authorize } from './authorize.ts'
import { askScript } from './keeper.ts'
import { createKeptCopies } from './kept-copies.ts'
import { fetchKeptCredentials } from './kept-credentials.ts'
import { collectLeftovers } from './leftovers.ts'
import { bundleContainer, keeperContainer } from './pod.ts'
import { endOf, type Followed, follow, lastSaid, readLog } from './pod-log.ts'
import { collectPodOutputs, readFiles, toFile } from './pod-outputs.ts'
import {
  detailOf,
  isOver,
  type Patience,
  type Pod,
  startedAt,
  terminatedOf,
  toStatus,
  waitingFor,
} from './pod-status.ts'
import { createPods } from './pods.ts'
import { createRecords, homeLabel, type RefusedStatus, type SandboxRecord } from './records.ts'
import type { PodSettings } from './settings.ts'
import { start, toRefusal } from './start.ts'

/** A pod that was seen is looked at again after so long: time passes for it too. */
const lookEvery = 2_000
/** How often a bundle is asked for the credentials that it keeps. */
const askEvery = 3_000
const stops: readonly Stop[] = ['time', 'memory', 'output', 'processes', 'cancelled']

/**
 * Runs bundles in pods, each in a namespace of its own. Every replica reaches them. Time and processes are kept by a program
 * in the pod, memory, cores and the disk by the node; what may be printed by whoever waits, and by the disk's limit in any case.
 */
export function createKubernetesRuntime(cluster: Cluster, settings: PodSettings): Runtime {
  const { clock } = cluster
  const home = settings.namespace ?? cluster.namespace
  const records = createRecords(cluster, home)
  const pods = createPods(cluster, clock, `${homeLabel}=${home}`)
  const counting = new Map<string, Promise<void>>()
  /** What was seen of their logs: a node that evicts them throws those away. */
  const followed = new Map<string, Followed>()
  const fetching = new Set<string>()
  const showKept = createKeptCopies(cluster, home)
  /** Of those that were started or looked at here: asking the cluster each time would be too often. */
  const known = new Map<string, SandboxRecord>()
  const podPath = ({ namespace, name }: SandboxRecord) => `/api/v1/namespaces/${namespace}/pods/${name}`

  const namespacePath = ({ namespace }: SandboxRecord) => `/api/v1/namespaces/${namespace}`

  async function liveRecord(name: string): Promise<SandboxRecord | undefined> {
    const found = await records.find(name)
    return found?.kind === 'live' ? found.record : undefined
  }

  async function statusOf(name: string): Promise<SandboxStatus> {
    const record = await liveRecord(name)
    if (record === undefined) {
      known.delete(name)
      return { kind: 'absent' }
    }
    const pod = await cluster.find<Pod>(podPath(record))
    if (pod !== undefined) known.set(name, record)
    // A starter may have made the record and not the pod yet: then nothing has begun. No pod goes before it is let go.
    else if (record.refused === undefined && (await cluster.find(namespacePath(record))) !== undefined)
      return { kind: 'absent' }
    return judge(record, pod)
  }

  /** The same from what is known here, where that is enough to tell. */
  async function look(name: string): Promise<SandboxStatus> {
    const record = known.get(name)
    const pod = record && (pods.seen(record.namespace, name) ?? (await cluster.find<Pod>(podPath(record))))
    const status = record && pod && (await judge(record, pod))
    return status?.kind === 'running' || status?.kind === 'exited' ? status : statusOf(name)
  }

  async function judge(record: SandboxRecord, pod: Pod | undefined): Promise<SandboxStatus> {
    if (record.refused !== undefined) return record.refused.status
    const status = toStatus(pod, patienceFor(record))
    if (status.kind === 'refused') await refuse(record, status, pod)
    if (status.kind !== 'exited' || status.stopped !== undefined) return status
    const why = (await lastSaid(cluster, record, 'stopped'))?.split(' ')[1]
    const stopped = stops.find(stop => stop === why)
    return stopped === undefined ? status : { ...status, stopped }
  }

  /** From now on it is refused, whatever the node does; then its pod goes. */
  async function refuse(record: SandboxRecord, status: RefusedStatus, pod: Pod | undefined): Promise<void> {
    await records.refuse(record.name, { status, detail: pod === undefined ? '' : detailOf(pod) })
    await cluster.remove(podPath(record), { body: { gracePeriodSeconds: 1 } })
  }

  async function stop(record: SandboxRecord, why: Stop, graceMs: number): Promise<void> {
    const target = { namespace: record.namespace, pod: record.name, container: keeperContainer }
    await execIn(cluster, target, ['/bin/busybox', 'sh', '-c', askScript(why, graceMs)], 1024)
  }

  /** Goes on while the bundle does, whether anybody still waits or not. One that breaks off is begun anew with the next wait. */
  function countOutput(record: SandboxRecord, most: number): void {
    if (counting.has(record.name)) return
    const seen = followed.get(record.name) ?? { printed: 0, end: Buffer.alloc(0) }
    followed.set(record.name, seen)
    const counted = follow(cluster, record, most, seen)
      .then(exceeds => (exceeds ? stop(record, 'output', 0) : undefined))
      .catch(() => undefined)
      // It has ended, which is seen soon; or it broke off.
      .then(() => sleep(clock, lookEvery))
      .finally(() => counting.delete(record.name))
    counting.set(record.name, counted)
  }

  /** Again and again while the bundle runs and somebody waits for it, until there is nothing more to fetch. */
  function fetchCredentials(record: SandboxRecord): void {
    if (fetching.has(record.name)) return
    fetching.add(record.name)
    void fetchKeptCredentials(cluster, record)
      .catch(() => false)
      .then(async done => {
        if (done) return
        await sleep(clock, askEvery)
        fetching.delete(record.name)
      })
  }

  async function wait(name: string, signal: AbortSignal): Promise<SandboxStatus> {
    for (;;) {
      const status = await look(name)
      if (status.kind !== 'running' || signal.aborted) return status
      const record = known.get(name)
      if (record !== undefined && pods.seen(record.namespace, name)?.status?.phase === 'Running') {
        if (record.output !== undefined) countOutput(record, record.output)
        if (record.keepsCredentials) fetchCredentials(record)
      }
      await pods.change(lookEvery, signal)
    }
  }

  async function remove(name: string): Promise<void> {
    const record = await records.remove(name, clock.now())
    known.delete(name)
    followed.delete(name)
    fetching.delete(name)
    if (record !== undefined) await finishRemoval(record)
  }

  /** Whatever else is in the namespace, and may take its time, the cluster takes away by itself. */
  async function finishRemoval(record: SandboxRecord): Promise<void> {
    const path = podPath(record)
    const seen = pods.seen(record.namespace, record.name)
    const pod = seen !== undefined && terminatedOf(seen) !== undefined ? seen : await cluster.find<Pod>(path)
    if (pod !== undefined && !hasEnded(record, pod)) {
      await cluster.remove(path, { body: { gracePeriodSeconds: 1 } })
      await untilEnded(record)
    }
    await all([
      ...(pod === undefined ? [] : [removeFinalizers(path), cluster.remove(path, { body: { gracePeriodSeconds: 0 } })]),
      cluster.remove(namespacePath(record)),
      ...removeFromTarget(record),
    ])
  }

  /** What still runs in it is ours, and the node ends it by itself; or there is no node to say that it has ended. */
  function hasEnded(record: SandboxRecord, pod: Pod): boolean {
    return isEnd(pod) || toStatus(pod, patienceFor(record)).kind === 'lost'
  }

  function patienceFor(record: SandboxRecord): Patience {
    return { now: clock.now(), start: settings.startTimeout, time: record.time }
  }

  async function untilEnded(record: SandboxRecord): Promise<void> {
    for (let pause = 50; ; pause = Math.min(1.2 * pause, lookEvery)) {
      const pod = await cluster.find<Pod>(podPath(record))
      if (pod === undefined || hasEnded(record, pod)) return
      await sleep(clock, pause)
    }
  }

  /** The cluster may forget the pod now. */
  async function removeFinalizers(path: string): Promise<void> {
    const options = { body: { metadata: { finalizers: null } }, contentType: 'application/merge-patch+json' }
    await cluster.call('PATCH', path, options).catch(error => {
      if (!isStatus(error, 404)) throw error
    })
  }

  function removeFromTarget({ target, namespace }: SandboxRecord): readonly Promise<unknown>[] {
    if (target === undefined) return []
    return ['rbac.authorization.k8s.io/v1/rolebindings', 'networking.k8s.io/v1/networkpolicies'].map(kind => {
      const [group, version, plural] = kind.split('/')
      return cluster.remove(`/apis/${group}/${version}/namespaces/${target}/${plural}/${namespace}`)
    })
  }

  /** What the cluster says about one that did not end by itself is all that there is to read. */
  async function collect(name: string, secrets: readonly string[]): Promise<Collected> {
    const ended = findEnded(name)
    const record = ended?.record ?? (await liveRecord(name))
    if (record === undefined) throw new Error(`the sandbox ${name} is not there`)
    if (record.refused !== undefined) return { outputs: { problems: [] }, log: record.refused.detail }
    const pod = ended?.pod ?? (await cluster.find<Pod>(podPath(record)))
    if (pod === undefined) return { outputs: { problems: [] }, log: '' }
    const isSilent = !isEnd(pod) && toStatus(pod, patienceFor(record)).kind === 'lost'
    const [{ text, cut }, outputs] = await Promise.all([
      readEnd(record, pod, isSilent),
      collectPodOutputs({ cluster, record, pod, secrets, isSilent, startTimeout: settings.startTimeout }),
    ])
    const isItsOwnEnd = terminatedOf(pod) !== undefined && pod.status?.reason === undefined
    return { outputs, log: tailOf(isItsOwnEnd ? text : `${text}\n${detailOf(pod)}`, cut, secrets) }
  }

  /** The end of its log. What its node has thrown away, or does not tell, is known as far as it was followed here. */
  async function readEnd(record: SandboxRecord, pod: Pod, isSilent: boolean): Promise<FileEnd> {
    const seen = followed.get(record.name)
    const tooMuch = seen !== undefined && seen.printed > (record.output ?? Number.POSITIVE_INFINITY)
    if (tooMuch || isSilent || pod.status?.reason === 'Evicted')
      return seen === undefined ? { text: '', cut: false } : endOf(seen)
    return readLog(cluster, record, bundleContainer)
  }

  /** One that is known here, and was seen to have ended: nothing of it changes any more. */
  function findEnded(name: string): { readonly record: SandboxRecord; readonly pod: Pod } | undefined {
    const record = known.get(name)
    const pod = record && pods.seen(record.namespace, name)
    return record && pod && terminatedOf(pod) !== undefined ? { record, pod } : undefined
  }

  async function progress(name: string, secrets: readonly string[]): Promise<string | undefined> {
    const record = known.get(name) ?? (await liveRecord(name))
    if (record === undefined) return undefined
    const pod = pods.seen(record.namespace, name) ?? (await cluster.find<Pod>(podPath(record)))
    if (pod === undefined) return undefined
    const hasBegun = startedAt(pod) !== undefined
    if (!hasBegun && terminatedOf(pod) === undefined) return waitingFor(pod)
    const read = hasBegun
      ? async (file: string) => (file === 'progress' ? toFile(file, toLine(await lastSaid(cluster, record, file))) : {})
      : await readFiles(cluster, record)
    const annotation = pod.metadata.annotations?.apb_last_operation
    return (
      (await readProgress(read, secrets)) ??
      (annotation === undefined ? undefined : createRedactor(secrets)(annotation))
    )
  }

  return {
    type: 'kubernetes',
    runs: ['image'],
    reach: 'anywhere',
    // The node does it: which one is not known before the pod is there.
    prepare: async () => undefined,
    async start(spec) {
      checkName(spec.name)
      try {
        if (!settings.autoEscalate) await authorize(cluster, spec)
        const { record, attached } = await start({ cluster, records, home, settings }, spec)
        known.set(spec.name, record)
        return { attached }
      } catch (error) {
        throw await startFailure(spec.name, error)
      }
    },
    status: name => statusOf(name).catch(toUnknown),
    wait: (name, signal) => wait(name, signal).catch(toUnknown),
    cancel: (name, graceMs) =>
      available(async () => {
        const record = await liveRecord(name)
        if (record === undefined || (await statusOf(name)).kind !== 'running') return
        const pod = await cluster.find<Pod>(podPath(record))
        if (pod !== undefined && startedAt(pod) === undefined)
          await refuse(record, { kind: 'refused', reason: 'it was cancelled before it began' }, pod)
        else await stop(record, 'cancelled', graceMs)
      }),
    progress: (name, secrets) => available(() => progress(name, secrets)),
    collect: (name, secrets) => available(() => collect(name, secrets)),
    async remove(name) {
      checkName(name)
      await available(() => remove(name))
    },
    ...(settings.copies ? { showKept: (kept: KeptCopy) => available(() => showKept(kept)) } : {}),
    list: () =>
      available(async () => {
        const found = await records.list()
        const live = new Set(found.flatMap(each => (each.kind === 'live' ? [each.record.name] : [])))
        for (const each of [known, followed]) for (const name of each.keys()) if (!live.has(name)) each.delete(name)
        await collectLeftovers({ cluster, records, home, found, finishRemoval })
        return found.flatMap((each): readonly FoundSandbox[] => (each.kind === 'live' ? [each.record] : []))
      }),
  }

  /** What is refused leaves nothing behind. */
  async function startFailure(name: string, error: unknown): Promise<unknown> {
    if (error instanceof ClusterUnavailableError) return new RuntimeUnavailableError(error.message, { cause: error })
    const found = await records.find(name).catch(() => undefined)
    // Its namespace was deleted while it was being made: by a removal, which says so, or by others, who may have seen it run.
    if (isStatus(error, 403, 404) && found?.kind === 'removed')
      return new SandboxRefusedError(`the sandbox ${name} was removed while it was being started`, { cause: error })
    const failure = error instanceof KubernetesError ? toRefusal(error) : error
    if (failure instanceof SandboxRefusedError && found?.kind === 'live') await remove(name).catch(() => undefined)
    return failure
  }
}

/** Its node has said how it ended. */
function isEnd(pod: Pod): boolean {
  return terminatedOf(pod) !== undefined || isOver(pod)
}

/** As the keeper says it, and as it would say it of a file. */
function toLine(said: string | undefined): string | undefined {
  return said?.replace(/^progress /, 'progress file ')
}

/** The cluster's failures, as those who run bundles know them. */
async function available<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ClusterUnavailableError || error instanceof KubernetesError
      ? new RuntimeUnavailableError(error.message, { cause: error })
      : error
  }
}

function toUnknown(error: unknown): SandboxStatus {
  if (error instanceof ClusterUnavailableError || error instanceof KubernetesError)
    return { kind: 'unknown', reason: error.message }
  throw error
}
