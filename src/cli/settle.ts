import {
  type OsbResponse,
  type PollResult,
  type PollTarget,
  pollUntilDone,
  type WireError,
  type WirePlan,
} from '../client/index.ts'
import { failure } from './cli-error.ts'
import { readTimeout } from './options.ts'
import { refusal } from './refusal.ts'
import { formatElapsed } from './render/progress-lines.ts'
import type { Session, WaitOptions } from './session.ts'
import { showProgress } from './show-progress.ts'

/** A change the broker was asked for. */
export interface Request extends Omit<PollTarget, 'operation'> {
  /** What a person reads while it runs and when it fails, as in `provision postgres/small`. */
  readonly label: string
  /** Its `maximum_polling_duration` limits the waiting. */
  readonly plan?: WirePlan | undefined
}

export interface Settled {
  /** `in progress` only with --no-wait; `gone` when a delete found nothing. */
  readonly state: 'succeeded' | 'in progress' | 'gone'
  /** The broker answered 202. */
  readonly asynchronous: boolean
}

/** Waits for the end of the operation, if the broker's first answer was a 202. Throws CliError if it was refused or failed. */
export async function settle(
  session: Session,
  request: Request,
  response: OsbResponse<WireError & { readonly operation?: string | null }>,
  options: WaitOptions,
): Promise<Settled> {
  const { action, label } = request
  if (response.status === 200 || response.status === 201) return { state: 'succeeded', asynchronous: false }
  if (response.status === 410 && (action === 'deprovision' || action === 'unbind')) {
    return { state: 'gone', asynchronous: false }
  }
  if (response.status !== 202) throw refusal(`could not ${label}`, response)
  if (!options.wait) return { state: 'in progress', asynchronous: true }
  const result = await watch(session, { ...request, operation: operationOf(response) }, options)
  if (result.state !== 'succeeded') throw unsuccessful(request, result)
  return { state: 'succeeded', asynchronous: true }
}

/** The `operation` to poll with, if the broker gave one (POLL-06: never an empty one). */
export function operationOf(response: OsbResponse<{ readonly operation?: string | null }>): string | undefined {
  const { operation } = response.body
  return typeof operation === 'string' && operation !== '' ? operation : undefined
}

const longestWait = 3_600_000

async function watch(
  { io, client }: Session,
  request: Request & PollTarget,
  { timeout }: WaitOptions,
): Promise<PollResult> {
  const seconds = request.plan?.maximum_polling_duration
  const planMaximum = seconds === undefined ? undefined : seconds * 1000
  const maximum =
    timeout === undefined ? (planMaximum ?? longestWait) : Math.min(readTimeout(timeout), planMaximum ?? Infinity)
  const interrupt = new AbortController()
  const stopListening = io.onInterrupt(() => interrupt.abort(interrupted(request)))
  const display = showProgress(io, request.label)
  try {
    return await pollUntilDone(client, request, {
      maximum,
      clock: io.clock,
      signal: interrupt.signal,
      onProgress: display.update,
    })
  } finally {
    display.stop()
    stopListening()
  }
}

function interrupted(request: Request) {
  return failure({
    what: `stopped waiting for: ${request.label}`,
    why: 'interrupted; the broker goes on with the operation',
    next: `${statusCommand(request)} shows how it ends.`,
  })
}

function unsuccessful(request: Request, result: PollResult) {
  const said = result.description === undefined ? '' : `: ${result.description}`
  if (result.state === 'timed out') {
    return failure({
      what: `gave up waiting for: ${request.label}`,
      why: `it has not ended after ${formatElapsed(result.elapsed)}${said}`,
      next: `${statusCommand(request)} shows whether it has ended since; --timeout sets how long to wait.`,
    })
  }
  return failure({
    what: `could not ${request.label}`,
    why: `the operation failed${said === '' ? ' and the broker gave no reason' : said}`,
    next: adviseAfterFailure(request, result),
  })
}

function adviseAfterFailure({ action, instanceId, bindingId }: Request, result: PollResult): string {
  if (action === 'provision') return `purser deprovision ${instanceId} removes what is left; then try again.`
  if (action === 'bind') return `purser unbind ${instanceId} ${bindingId ?? ''} removes what is left; then try again.`
  if (result.instanceUsable === false)
    return 'The instance is no longer usable: repair it with an update, or deprovision it.'
  if (result.updateRepeatable === false) return 'The same update would fail again: change it.'
  return 'Repeat the command; if it fails again, the log of the broker says more.'
}

function statusCommand({ instanceId, bindingId }: Request): string {
  return `purser status ${instanceId}${bindingId === undefined ? '' : ` ${bindingId}`}`
}
