import type { JsonObject } from '../protocol/json.ts'
import type { Binding } from './binding.ts'
import type { Instance } from './instance.ts'
import type { NoteWrite } from './note.ts'
import type { Operation } from './operation.ts'
import type { Verb } from './operator.ts'
import type { Within } from './quota.ts'

/** What a decision about one resource is made from, read under the instance's lock. */
export interface Snapshot {
  /** The store's clock. */
  readonly now: number
  readonly instance?: Instance
  /** The active operation of the instance itself, if any. */
  readonly operation?: Operation
  readonly binding?: Binding
  readonly bindingOperation?: Operation
  readonly predecessor?: Binding
  /** Bindings that are ready, in creation or in deletion; failed ones are cleaned up with the instance. */
  readonly liveBindings: number
  /** Bindings of the instance that have an active operation of a platform. */
  readonly busyBindings: number
  /** Bindings of the instance that are being swept. */
  readonly sweptBindings: number
}

/** What a finishing decision is made from. */
export interface Finishing extends Snapshot {
  readonly finishing: Operation
}

/**
 * `held`: its retries were used up, and an operator decides. `acted`: an operator did something by hand. `expiring`: a binding
 * should be rotated from now on.
 */
export type HistoryType =
  | 'accepted'
  | 'superseded'
  | 'succeeded'
  | 'failed'
  | 'healed'
  | 'degraded'
  | 'forced'
  | 'held'
  | 'expiring'
  | 'expired'
  | 'acted'

/** One line of the append-only history. */
export interface HistoryEvent {
  readonly at: number
  readonly type: HistoryType
  readonly instanceId: string
  readonly bindingId?: string
  readonly operationId?: string
  readonly action?: string
  readonly platform?: string
  readonly identity?: JsonObject
  readonly requestId?: string
  /** Who had signed in, and from which IP address: of what platforms and operators ask for. Of a session: whose it is. */
  readonly principal?: string
  readonly address?: string
  readonly message?: string
  /** Who did it, where that was no platform: an operator, or a chore. */
  readonly by?: string
  /** Of what an operator did: what it was, why, and what of the row was other before and after it. */
  readonly verb?: Verb
  readonly reason?: string
  readonly before?: JsonObject
  readonly after?: JsonObject
}

/** Whole rows to write, in this order, in one transaction. Decisions make them; stores apply them. */
export interface Change {
  readonly instance?: Instance
  readonly bindings?: readonly Binding[]
  /** Inserted or replaced by id, in order: an operation that ends stands before the one that takes its place. */
  readonly operations?: readonly Operation[]
  /** Begins the second operation, which `operations` has, with the steps that the first one has done. */
  readonly copySteps?: { readonly from: string; readonly to: string }
  /** Ids of operations whose rows are no longer needed (finished observations). */
  readonly deleteOperations?: readonly string[]
  readonly history?: readonly HistoryEvent[]
  /** Each from the version that it was: NoteConflictError otherwise, and nothing is written. */
  readonly notes?: readonly NoteWrite[]
  /**
   * Written only if the platform has no more than that with it, whoever writes for it at the same time: an OverQuotaError
   * otherwise, and nothing is written.
   */
  readonly within?: Within
}

/** What a decision says: the answer, and what has to be written for it to be true. */
export interface Verdict<Answer> {
  readonly answer: Answer
  readonly change?: Change
}
