/** How pauses grow from one failure to the next. Times are milliseconds. */
export interface Growth {
  readonly initial: number
  /** 2 unless it is given. */
  readonly factor?: number
  /** No limit unless it is given. */
  readonly max?: number
}

/** Exponential back-off with full jitter. Budgets are counted from persisted times, never from a process's memory. */
export interface RetryPolicy extends Required<Growth> {
  /** Attempts in all; absent: until the time is over. */
  readonly attempts?: number
  /** Time in all, from the checkpoint before the step; absent: until the operation's deadline. */
  readonly for?: number
}

/** How long to wait before the attempt after `attempts` failed ones. `random` is uniform in [0, 1). */
export function backOff(policy: RetryPolicy, attempts: number, random: number, retryAfter = 0): number {
  return Math.max(Math.round(random * pauseAfter(attempts, policy)), retryAfter)
}

/** The same without jitter. */
export function pauseAfter(attempts: number, { initial, factor = 2, max = Number.POSITIVE_INFINITY }: Growth): number {
  return Math.min(max, initial * factor ** Math.min(attempts - 1, 64))
}

/** Whether a step that failed `attempts` times since `startedAt` has used up what it was given. */
export function isExhausted(policy: RetryPolicy, attempts: number, startedAt: number, now: number): boolean {
  if (policy.attempts !== undefined && attempts >= policy.attempts) return true
  return policy.for !== undefined && now - startedAt >= policy.for
}
