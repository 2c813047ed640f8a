import { pauseAfter } from '../../domain/retry.ts'
import { Unanswered, type WebReply } from './send.ts'

/** Longer than this nobody waits here: the registry is asked again at its next turn. */
const longestPause = 20_000

/** How long to wait before a request is repeated; undefined where the reply is one to keep. Attempts count from 1. */
export function pauseBefore(
  reply: Pick<WebReply, 'status' | 'headers'> | Unanswered,
  attempt: number,
  firstPause: number,
  now: number,
): number | undefined {
  const usual = pauseAfter(attempt, { initial: firstPause })
  if (reply instanceof Unanswered) return usual
  const { status, headers } = reply
  if (status !== 429 && (status < 500 || status === 501)) return undefined
  const asked = readRetryAfter(headers['retry-after'], now)
  if (asked !== undefined && asked > longestPause) return undefined
  return asked ?? usual
}

/** Seconds, or a date. */
function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
