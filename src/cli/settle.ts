import {
  type AsyncCallOptions,
  type FetchQuery,
  type OsbResponse,
  type PollResult,
  type PollTarget,
  pollUntilDone,
  type WireError,
  type WirePlan,
} from '../client/index.ts'
import { sayDuration } from '../shape/duration.ts'
import { CliError } from './cli-error.ts'
import { interruptible } from './io.ts'
import { refusal } from './refusal.ts'
import type { Session } from './session.ts'
import { showProgress } from './show-progress.ts'

export interface Change extends Pick<PollTarget, 'action' | 'instanceId' | 'bindingId'> {
  /** What a person reads while it runs and when it fails, as in `provision postgres/small`. */
  readonly label: string
  /** During a plan change the plan before it. */
  readonly ids: FetchQuery
  /** Its `maximum_polling_duration` limits the waiting. */
  readonly plan: WirePlan | undefined
}

type Answer = OsbResponse<WireError & { readonly operation?: string | null }>
/** `in progress` only with --no-wait; `gone` when a delete found nothing. */
type State = 'succeeded' | 'in progress' | 'gone'

/** Sends the request of a change. After a Ctrl-C nobody knows what the broker has made of it. */
export function send<Sent extends Answer>(
  { io, callOptions }: Session,
  change: Change,
  call: (options: AsyncCallOptions) => Promise<Sent>,
): Promise<Sent> {
  const stopped = {
    what: `stopped waiting for: ${change.label}`,
    why: 'interrupted before the broker had answered: it may go on',
    next: `${statusCommand(change)} shows whether it does.`,
  }
  return interruptible(io, stopped, signal => call({ ...callOptions, signal }))
}

/**
 * Waits for the end of the operation, if the broker's first answer was a 202, and remembers it for later commands. Throws
 * CliError if it was refused or failed.
 */
export async function settle(session: Session, change: Change, answer: Answer) {
  const { instanceId, bindingId } = change
  const operation = operationOf(answer)
  session.about.operation = operation
  if (answer.status < 400) await session.memory.rememberOperation(operation, instanceId, bindingId)
  const state = await awaitEnd(session, change, answer, operation)
  if (isDelete(change) && state !== 'in progress') await session.memory.forget(instanceId, bindingId)
  return { state, operation }
}

/** POLL-06: an empty one must not be sent. */
function operationOf({ body }: Answer): string | undefined {
  return typeof body.operation === 'string' && body.operation !== '' ? body.operation : undefined
}

async function awaitEnd(session: Session, change: Change, answer: Answer, operation?: string): Promise<State> {
  const { status } = answer
  if (status === 200 || status === 201) return 'succeeded'
  if (status === 410 && isDelete(change)) return 'gone'
  if (status !== 202) throw refusal(`could not ${change.label}`, answer, change)
  if (session.options.wait === false) return 'in progress'
  const result = await watch(session, change, operation)
  if (result.state !== 'succeeded') throw unsuccessful(change, result, operation)
  return 'succeeded'
}

const longestWait = 3_600_000

function watch({ io, client, options }: Session, change: Change, operation?: string): Promise<PollResult> {
  const { action, label, instanceId, bindingId, ids, plan } = change
  const target = { action, instanceId, bindingId, operation, serviceId: ids.service_id, planId: ids.plan_id }
  const seconds = plan?.maximum_polling_duration
  const limit = seconds === undefined ? undefined : seconds * 1000
  const maximum = Math.min(options.timeout ?? limit ?? longestWait, limit ?? Infinity)
  const stopped = {
    what: `stopped waiting for: ${label}`,
    why: `interrupted; the broker goes on with ${nameOf(operation)}`,
    next: `${statusCommand(change)} shows how it ends.`,
  }
  return interruptible(io, stopped, async signal => {
    const display = showProgress(io, label)
    try {
      return await pollUntilDone(client, target, { maximum, clock: io.clock, signal, onProgress: display.update })
    } finally {
      display.stop()
    }
  })
}

/** POLL-06: a broker need not name its operations. */
function nameOf(operation: string | undefined): string {
  return operation === undefined ? 'the operation' : `operation ${operation}`
}

function unsuccessful(change: Change, result: PollResult, operation?: string) {
  const said = result.description === undefined ? '' : `: ${result.description}`
  if (result.state === 'timed out') {
    const parts = {
      what: `gave up waiting for: ${change.label}`,
      why: `${nameOf(operation)} has not ended after ${sayDuration(result.elapsed)}${said}`,
      next: `${statusCommand(change)} shows whether it has ended since; --timeout sets how long to wait.`,
    }
    return new CliError(3, parts, { state: 'in progress' })
  }
  const parts = {
    what: `could not ${change.label}`,
    why: `${nameOf(operation)} failed${said === '' ? ' and the broker gave no reason' : said}`,
    next: adviseAfterFailure(change, result),
  }
  return new CliError(5, parts, { state: 'failed' })
}

function adviseAfterFailure(change: Change, result: PollResult): string {
  const { action, instanceId, bindingId } = change
  if (action === 'provision') return `purser deprovision ${instanceId} removes what is left; then try again.`
  if (action === 'bind') return `purser unbind ${instanceId} ${bindingId} removes what is left; then try again.`
  if (result.instanceUsable === false)
    return `The instance is no longer usable: repair it with purser update ${instanceId}, or purser deprovision ${instanceId}.`
  if (result.updateRepeatable === false)
    return `The same update would fail again: change it (purser update ${instanceId}).`
  return `Repeat it (purser ${action} ${[instanceId, bindingId].filter(Boolean).join(' ')}); if it fails again, the log of the broker says more.`
}

function statusCommand({ instanceId, bindingId }: Change): string {
  return `purser status ${instanceId}${bindingId === undefined ? '' : ` ${bindingId}`}`
}

function isDelete({ action }: Change): boolean {
  return action === 'deprovision' || action === 'unbind'
}
