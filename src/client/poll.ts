import { type Clock, sleep, systemClock } from '../clock.ts'
import { OsbConnectionError } from './connection-error.ts'
import type { LastOperation } from './messages.ts'
import type { OsbClient } from './osb-client.ts'
import type { OsbResponse } from './sender.ts'

export type PolledAction = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'

/** The operation that a 202 began. */
export interface PollTarget {
  readonly action: PolledAction
  readonly instanceId: string
  /** For bind and unbind. */
  readonly bindingId?: string
  readonly operation?: string
  readonly serviceId?: string
  /** During a plan change the plan before it (POLL-04). */
  readonly planId?: string
}

export interface PollProgress {
  readonly description?: string
  /** Why the last poll told nothing; the polling goes on. */
  readonly problem?: string
  /** Milliseconds since the polling began. */
  readonly elapsed: number
}

export interface PollOptions {
  readonly onProgress?: (progress: PollProgress) => void
  readonly clock?: Clock
  /** Milliseconds; the plan's `maximum_polling_duration`, or less (DUR-02). */
  readonly maximum: number
  readonly signal?: AbortSignal
}

export interface PollResult {
  /** `timed out`: the maximum is over; for a platform the operation has failed (DUR-03). */
  readonly state: 'succeeded' | 'failed' | 'timed out'
  readonly description?: string
  readonly instanceUsable?: boolean
  readonly updateRepeatable?: boolean
  readonly elapsed: number
}

/**
 * Polls until the operation has ended or the maximum is over; waits as long as the broker's Retry-After asks, else a
 * second at first and ten at last. A lost network or a broker's 5xx does not end it. Throws only when aborted.
 */
export async function pollUntilDone(client: OsbClient, target: PollTarget, options: PollOptions): Promise<PollResult> {
  const { onProgress, clock = systemClock, maximum, signal } = options
  const begun = clock.now()
  let pause = shortestPause
  let last: PollProgress = { elapsed: 0 }
  for (;;) {
    const { verdict, retryAfter } = await pollOnce(client, target, clock, signal)
    const elapsed = clock.now() - begun
    if (verdict.kind === 'final') {
      const { kind: _, ...result } = verdict
      return { ...result, elapsed }
    }
    // A poll that told nothing leaves the last description standing.
    if (verdict.kind === 'running') last = { description: verdict.description, elapsed }
    else last = { description: last.description, problem: verdict.problem, elapsed }
    onProgress?.(last)
    if (elapsed >= maximum) return { state: 'timed out', description: last.problem ?? last.description, elapsed }
    await sleep(clock, Math.min(retryAfter ?? pause, maximum - elapsed), signal)
    pause = Math.min(pause * 1.5, longestPause)
  }
}

const shortestPause = 1_000
const longestPause = 10_000

async function pollOnce(client: OsbClient, target: PollTarget, clock: Clock, signal: AbortSignal | undefined) {
  signal?.throwIfAborted()
  const { action, instanceId, bindingId, serviceId, planId, operation } = target
  const query = { service_id: serviceId, plan_id: planId, operation }
  try {
    const response =
      bindingId === undefined
        ? await client.lastOperation(instanceId, query, { signal })
        : await client.lastBindingOperation(instanceId, bindingId, query, { signal })
    const retryAfter = parseRetryAfter(response.headers['retry-after'], clock.now())
    return { verdict: judgePoll(action, response), retryAfter }
  } catch (error) {
    if (!(error instanceof OsbConnectionError)) throw error
    const verdict: PollVerdict = { kind: 'unclear', problem: `${error.what}: ${error.why}` }
    return { verdict, retryAfter: undefined }
  }
}

type PollVerdict =
  | ({ readonly kind: 'final' } & Omit<PollResult, 'elapsed'>)
  | { readonly kind: 'running'; readonly description?: string }
  | { readonly kind: 'unclear'; readonly problem: string }

/**
 * A delete that answers 410 has succeeded (POLL-11, BPOLL-10). Any other answer than a valid 200 says nothing about the
 * operation: the platform polls on (POLL-12, POLL-13, BPOLL-11, BPOLL-12).
 */
export function judgePoll(action: PolledAction, response: OsbResponse<LastOperation>): PollVerdict {
  const { status, body } = response
  if (status === 410 && (action === 'deprovision' || action === 'unbind')) return { kind: 'final', state: 'succeeded' }
  if (status !== 200) return { kind: 'unclear', problem: describeAnswer(response) }
  const description = typeof body.description === 'string' ? body.description : undefined
  if (body.state === 'in progress') return { kind: 'running', description }
  if (body.state === 'succeeded') return { kind: 'final', state: 'succeeded', description }
  if (body.state !== 'failed') return { kind: 'unclear', problem: 'the broker answered 200 without a valid state' }
  const instanceUsable = typeof body.instance_usable === 'boolean' ? body.instance_usable : undefined
  const updateRepeatable = typeof body.update_repeatable === 'boolean' ? body.update_repeatable : undefined
  return { kind: 'final', state: 'failed', description, instanceUsable, updateRepeatable }
}

/** Milliseconds that Retry-After asks for, given as seconds or as a date (POLL-20); undefined if there is none. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function describeAnswer({ status, body }: OsbResponse<LastOperation>): string {
  const detail = [body.error, body.description].filter(part => typeof part === 'string' && part !== '').join(': ')
  return `the broker answered ${status}${detail === '' ? '' : ` ${detail}`}`
}
