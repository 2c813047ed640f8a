import type { ActionResult, Outcome, SettlePolicy } from '../domain/outcome.ts'
import type { RetryPolicy } from '../domain/retry.ts'
import type { Claim } from '../ledger.ts'
import type { Run } from './run.ts'

/** Returned by an action that has to wait: the operation is parked and the action starts again from its top later. */
export interface Wait {
  readonly waitFor: number
  readonly description: string
  /** Only `createWait` makes one. Not JSON, so the compiler refuses one that is kept and not returned. */
  readonly [made]: () => void
}

declare const made: unique symbol

export function createWait(waitFor: number, description: string): Wait {
  return { waitFor, description } as Wait
}

export function isWait(value: unknown): value is Wait {
  return typeof value === 'object' && value !== null && 'waitFor' in value
}

/** How one claimed operation is done. The engine does not know what the action does. */
export interface Work {
  perform(run: Run): Promise<ActionResult | Wait>
  /** Called once the outcome is a failure, before it is written; must not throw. */
  onFailure(run: Run, error: unknown): Promise<void>
  readonly retry: RetryPolicy
  readonly callTimeout: number
  /** What has used up its retries is held for an operator instead of failing. */
  readonly holds?: boolean
  settlePolicy(now: number): SettlePolicy
  /** What no text of the run may show, besides what its own code calls sensitive. */
  secrets?(): readonly string[]
  /** Called when the operation has ended, as far as this process lives that long; must not throw. */
  afterwards?(outcome: Outcome): Promise<void>
}

/** Finds the work for a claim; undefined where this process has no driver for it. */
export type FindWork = (claim: Claim) => Work | undefined
