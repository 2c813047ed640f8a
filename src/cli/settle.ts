import type { OsbResponse, PollResult, PollTarget, WireError, WirePlan } from '../client/index.ts'
import { pollUntilDone } from '../client/index.ts'
import { parseDuration } from '../shape/duration.ts'
import { failure, wrongUsage } from './cli-error.ts'
import { showProgress } from './progress.ts'
import { refusal } from './refusal.ts'
import { formatElapsed } from './render/progress.ts'
import type { Session } from './session.ts'

export interface WaitOptions {
  /** False with --no-wait. */
  readonly wait: boolean
  /** True with --sync. */
  readonly sync?: boolean
  readonly timeout?: string
}

/** A change the broker was asked for. */
export interface Request {
  /** What a person reads while it runs and when it fails, as in `provision postgres/small`. */
  readonly label: string
  readonly target: PollTarget
  /** Whose `maximum_polling_duration` limits the waiting. */
  readonly plan?: WirePlan | undefined
}

export interface Settled {
  /** `in progress` only with --no-wait; `gone` when a delete found nothing. */
  readonly state: 'succeeded' | 'in progress' | 'gone'
  /** The broker answered 202. */
  readonly asynchronous: boolean
}

/** From the broker's first answer to the end of the operation. Throws CliError when it was refused or failed. */
export async function settle(
  session: Session,
  request: Request,
  response: OsbResponse<WireError>,
  options: WaitOptions,
): Promise<Settled> {
  const { action } = request.target
  if (response.status === 200 || response.status === 201) return { state: 'succeeded', asynchronous: false }
  if (response.status === 410 && (action === 'deprovision' || action === 'unbind')) {
    return { state: 'gone', asynchronous: false }
  }
  if (response.status !== 202) throw refusal(`could not ${request.label}`, response)
  if (!options.wait) return { state: 'in progress', asynchronous: true }
  const result = await watch(session, request, options)
  if (result.state !== 'succeeded') throw unsuccessful(request, result)
  return { state: 'succeeded', asynchronous: true }
}

/** The `operation` to poll with, where the broker gave one (POLL-06: never an empty one). */
export function operationOf(response: OsbResponse<{ readonly operation?: string | null }>): string | undefined {
  const { operation } = response.body
  return typeof operation === 'string' && operation !== '' ? operation : undefined
}

/** How long one request may take: with --sync as long as --timeout says. A wrong --timeout is told before any request. */
export function readRequestTimeout(options: WaitOptions): number | undefined {
  const timeout = readTimeout(options)
  return options.sync === true ? timeout : undefined
}

function readTimeout({ timeout }: WaitOptions): number | undefined {
  if (timeout === undefined) return undefined
  try {
    return parseDuration(timeout)
  } catch (error) {
    throw wrongUsage({
      what: '--timeout is not a duration',
      why: error instanceof Error ? error.message : String(error),
      next: 'Write a number and a unit, as in 90s, 10m or 2h.',
    })
  }
}

const longestWait = 3_600_000

async function watch(session: Session, request: Request, options: WaitOptions): Promise<PollResult> {
  const { io, client } = session
  const planMaximum = request.plan?.maximum_polling_duration
  const maximum = Math.min(
    readTimeout(options) ?? (planMaximum === undefined ? longestWait : Number.POSITIVE_INFINITY),
    planMaximum === undefined ? Number.POSITIVE_INFINITY : planMaximum * 1000,
  )
  const interrupt = new AbortController()
  const stopListening = io.onInterrupt(() => interrupt.abort(interrupted(request)))
  const display = showProgress(io, request.label)
  try {
    return await pollUntilDone(client, request.target, {
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
    next: `${statusCommand(request.target)} shows how it ends.`,
  })
}

function unsuccessful(request: Request, result: PollResult) {
  const said = result.description === undefined ? '' : `: ${result.description}`
  if (result.state === 'timed out') {
    return failure({
      what: `gave up waiting for: ${request.label}`,
      why: `not ended after ${formatElapsed(result.elapsed)}${said}`,
      next: `${statusCommand(request.target)} shows whether it has ended since; --timeout sets how long to wait.`,
    })
  }
  return failure({
    what: `could not ${request.label}`,
    why: `the operation failed${said === '' ? ' and the broker gave no reason' : said}`,
    next: adviseAfterFailure(request.target, result),
  })
}

function adviseAfterFailure({ action, instanceId, bindingId }: PollTarget, result: PollResult): string {
  if (action === 'provision') return `purser deprovision ${instanceId} removes what is left; then try again.`
  if (action === 'bind') return `purser unbind ${instanceId} ${bindingId ?? ''} removes what is left; then try again.`
  if (result.instanceUsable === false)
    return 'The instance is no longer usable: repair it with an update, or deprovision it.'
  if (result.updateRepeatable === false) return 'The same update would fail again: change it.'
  return 'Repeat the command; if it fails again, the log of the broker says more.'
}

function statusCommand({ instanceId, bindingId }: PollTarget): string {
  return `purser status ${instanceId}${bindingId === undefined ? '' : ` ${bindingId}`}`
}
