import type { JsonObject } from '../protocol/json.ts'
import type { Binding } from './binding.ts'
import type { InstanceMetadata } from './instance.ts'
import type { OperationError } from './operation.ts'

/** What a finished action gave. Which fields count depends on the action. */
export interface ActionResult {
  /** What the author says at the end. What was said on the way is over. */
  readonly message?: string
  /** Replaces the resource's state; absent keeps it. */
  readonly state?: JsonObject
  /** Bind and unbind: what is merged into the instance's state, key by key; null removes a key. */
  readonly instanceState?: JsonObject
  readonly dashboardUrl?: string
  readonly metadata?: InstanceMetadata
  /** Bind: the wire body of the binding, when it expires, and from when on it should be rotated. */
  readonly binding?: JsonObject
  readonly expiresAt?: number
  readonly renewBefore?: number
  /** Observe: what was seen. */
  readonly observed?: Observed
  /** Deprovision: the bindings that were unbound with the instance. */
  readonly unbound?: readonly Binding[]
}

export interface Observed {
  readonly ready: boolean
  readonly degraded?: boolean
  readonly reason?: string
  readonly message?: string
}

export type Outcome =
  | { readonly kind: 'succeeded'; readonly result: ActionResult }
  | { readonly kind: 'failed'; readonly error: OperationError }

/** Facts of the service that settling needs. Times are milliseconds. */
export interface SettlePolicy {
  /** False where no call of a worker that lost its lease can land any more: then nothing has to be swept. */
  readonly lateCalls?: boolean
  /** How long after a deletion the sweep looks again: longer than the longest call can take to land. */
  readonly sweepDelay: number
  readonly sweepTimeout: number
  readonly sweepOperationId: string
  /** When the instance is observed next; absent for services without `observe`. */
  readonly observeAt?: number
}
