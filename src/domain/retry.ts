/** Exponential back-off with full jitter. Budgets are counted from persisted times, never from a process's memory. */
export interface RetryPolicy {
  /** Milliseconds. */
  readonly initial: number
  readonly factor: number
  readonly max: number
  /** Attempts in all; absent: until the time is over. */
  readonly attempts?: number
  /** Time in all, from the checkpoint before the step; absent: until the operation's deadline. */
  readonly forMs?: number
}

/** How long to wait before the attempt after `attempts` failed ones. `random` is uniform in [0, 1). */
export function backOff(policy: RetryPolicy, attempts: number, random: number, retryAfterMs = 0): number {
  const ceiling = Math.min(policy.max, policy.initial * policy.factor ** Math.min(attempts - 1, 64))
  return Math.max(Math.round(random * ceiling), retryAfterMs)
}

/** Whether a step that failed `attempts` times since `startedAt` has used up what it was given. */
export function isExhausted(policy: RetryPolicy, attempts: number, startedAt: number, now: number): boolean {
  if (policy.attempts !== undefined && attempts >= policy.attempts) return true
  return policy.forMs !== undefined && now - startedAt >= policy.forMs
}
