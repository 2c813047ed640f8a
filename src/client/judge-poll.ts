import type { LastOperation } from './messages.ts'
import type { OsbResponse } from './sender.ts'

export type PolledAction = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'

/** What one answer to a poll means. */
export type PollVerdict =
  | {
      readonly kind: 'final'
      readonly state: 'succeeded' | 'failed'
      readonly description?: string
      readonly instanceUsable?: boolean
      readonly updateRepeatable?: boolean
    }
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
  if (body.state === 'failed') {
    return {
      kind: 'final',
      state: 'failed',
      description,
      instanceUsable: typeof body.instance_usable === 'boolean' ? body.instance_usable : undefined,
      updateRepeatable: typeof body.update_repeatable === 'boolean' ? body.update_repeatable : undefined,
    }
  }
  return { kind: 'unclear', problem: 'the broker answered 200 without a valid state' }
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
