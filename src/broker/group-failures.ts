import { fingerprintOf } from '../domain/fingerprint.ts'
import type { FailedOperation } from '../reads.ts'
import type { BrokerContext } from './context.ts'

/** So many operations are looked at; older ones are left out. */
const most = 10_000
const mostIds = 20

/** Failures of one kind. */
export interface ErrorGroup extends Pick<FailedOperation, 'serviceId' | 'action'> {
  readonly fingerprint: string
  readonly step?: string
  /** Operations: those that have failed, and those that try again. */
  readonly count: number
  readonly failed: number
  readonly retrying: number
  readonly firstAt: number
  readonly lastAt: number
  /** Of the latest. */
  readonly sample: { readonly operationId: string; readonly instanceId: string; readonly message: string }
  /** Some of them, the latest first. */
  readonly operations: readonly string[]
}

export interface FailureQuery {
  readonly serviceId?: string
  readonly action?: string
  readonly since?: number
}

/** The kinds of failures, the one that happened last first. `complete`: no failure was left out. */
export async function groupFailures(
  { store }: BrokerContext,
  { serviceId, action, since = 0 }: FailureQuery,
): Promise<{ readonly groups: readonly ErrorGroup[]; readonly complete: boolean }> {
  const rows = await store.failures(most + 1)
  const found = rows.flatMap(row => toFailure(row) ?? [])
  const wanted = found.filter(
    each =>
      (serviceId === undefined || each.serviceId === serviceId) &&
      (action === undefined || each.action === action) &&
      each.at >= since,
  )
  const groups = new Map<string, Failure[]>()
  for (const failure of wanted.sort((one, other) => other.at - one.at)) {
    const group = groups.get(failure.fingerprint)
    if (group === undefined) groups.set(failure.fingerprint, [failure])
    else if (!group.some(({ id }) => id === failure.id)) group.push(failure)
  }
  return {
    groups: [...groups.values()].flatMap(failures => toGroup(failures) ?? []),
    complete: [true, false].every(ended => rows.filter(({ step }) => (step === undefined) === ended).length <= most),
  }
}

interface Failure extends Pick<FailedOperation, 'id' | 'instanceId' | 'serviceId' | 'action'> {
  readonly fingerprint: string
  readonly step?: string
  readonly message: string
  readonly at: number
  readonly retrying: boolean
}

/** Undefined for a step that only waits. Rows of older releases have no fingerprint of their own. */
function toFailure(row: FailedOperation): Failure | undefined {
  const { id, instanceId, serviceId, action, error, step, acceptedAt, finishedAt } = row
  const of = { id, instanceId, serviceId, action }
  if (step === undefined) {
    if (error === undefined) return undefined
    const { message, fingerprint = fingerprintOf(row, undefined, message) } = error
    return { ...of, fingerprint, step: error.step, message, at: finishedAt ?? acceptedAt, retrying: false }
  }
  const { name, error: message, fingerprint, failedAt = step.startedAt } = step
  if (message === undefined || fingerprint === undefined) return undefined
  return { ...of, fingerprint, step: name, message, at: failedAt, retrying: true }
}

/** The first is the latest. */
function toGroup(failures: readonly Failure[]): ErrorGroup | undefined {
  const [latest] = failures
  if (latest === undefined) return undefined
  const { fingerprint, serviceId, action, step, id, instanceId, message } = latest
  const retrying = failures.filter(failure => failure.retrying).length
  return {
    fingerprint,
    serviceId,
    action,
    step,
    count: failures.length,
    failed: failures.length - retrying,
    retrying,
    firstAt: failures.at(-1)?.at ?? latest.at,
    lastAt: latest.at,
    sample: { operationId: id, instanceId, message },
    operations: failures.slice(0, mostIds).map(failure => failure.id),
  }
}
