/** The ledger: how an operation is accepted, run and ended. The rules that hold for all of it stand in `store.ts`. */
import type { Binding } from './domain/binding.ts'
import type { Change, Finishing, Snapshot, Verdict } from './domain/change.ts'
import type { Instance } from './domain/instance.ts'
import type { LeftOut } from './domain/left-out.ts'
import type { Operation, Step } from './domain/operation.ts'
import type { NameHolder, NameTaking } from './domain/replica-name.ts'
import type { SharedVerdict, SharedWish } from './domain/shared-claim.ts'
import type { JsonObject } from './protocol/json.ts'

/** Which rows a decision is about. */
export interface Target {
  readonly instanceId: string
  readonly bindingId?: string
  readonly predecessorId?: string
}

/** The right to run one operation. */
export interface Lease {
  readonly operationId: string
  readonly fence: number
}

/** A claimed operation with all that its run needs. */
export interface Claim {
  readonly operation: Operation
  readonly instance: Instance
  readonly binding?: Binding
  readonly steps: readonly Step[]
  /** The lease before this one ran out: the holder crashed or was cut off, and its last call may still land. */
  readonly takenOver: boolean
}

export interface Claims {
  readonly claims: readonly Claim[]
  /** When the next operation that is not claimed yet becomes due, if there is one. */
  readonly nextAt?: number
  /** The store's clock at the claim. */
  readonly now: number
}

/** A worker of this process that has a place for one more operation. */
export interface Taker {
  readonly owner: string
  readonly leaseTime: number
  /** Whether the place is for this operation, as it is about to be written; asked again where it is decided again. */
  wants(operation: Operation): boolean
  /** The operation that was accepted is leased to it. Said before `accept` answers, and true only if that answers. */
  taken(claim: Claim, now: number): void
}

/** What a worker writes in the middle of a run. A done step counts as progress; a failed one does not. */
export interface Checkpoint {
  readonly step?: Step
  readonly description?: string
  /** Replaces the state of the operation's resource. */
  readonly state?: JsonObject
}

export interface Parking {
  readonly until: number
  readonly description?: string
  /** The failed step that is the reason, so that its attempts survive. */
  readonly step?: Step
}

/** Whether the name was to be had. `former` is the owner before, if there was another one; `now` the store's clock. */
export type NameAnswer =
  | { readonly taken: true; readonly former?: string }
  | { readonly taken: false; readonly holder: NameHolder; readonly now: number }

export interface Ledger {
  /**
   * Reads the target under its instance's lock, asks `decide` (pure, may throw: then nothing is written) and applies. An
   * instance that the change pins to a revision is written only if that revision is stored at that moment, and the
   * revision cannot go while the instance needs it: RevisionGoneError otherwise, and nothing is written.
   *
   * Where there is a `taker`, a store may lease a new operation that is due at once, and that it wants, to it in the same
   * transaction, which saves the claim, and tells nobody else of the work. One that does not leaves it in the queue, as without a taker.
   */
  accept<Answer>(target: Target, decide: (snapshot: Snapshot) => Verdict<Answer>, taker?: Taker): Promise<Answer>

  /**
   * Leases up to `max` due operations to `owner`, oldest due first, each with a new fence. What is left out is neither leased nor
   * the next one; one that an older release wrote without its platform is left out by its service alone.
   */
  claim(owner: string, max: number, leaseTime: number, leftOut?: LeftOut): Promise<Claims>
  /** Extends the leases; answers those that were still held. */
  renew(leases: readonly Lease[], leaseTime: number): Promise<readonly Lease[]>
  checkpoint(lease: Lease, checkpoint: Checkpoint): Promise<boolean>
  /** Back to the queue until a time; the lease ends. */
  park(lease: Lease, parking: Parking): Promise<boolean>
  /** The end: result, resource and history in one transaction. */
  finish(lease: Lease, decide: (snapshot: Finishing) => Change): Promise<boolean>
  /**
   * Lets go without a result: a running operation is due again at once; a superseded one lets its successor start. Says
   * that the caller has stopped working on it, whether the lease was still held or not.
   */
  handBack(lease: Lease): Promise<void>
  /** Decides about a shared resource under its row's lock; undefined means that the lease is lost. */
  share(lease: Lease, key: string, wish: SharedWish): Promise<SharedVerdict['answer'] | undefined>

  /**
   * Gives the name to `owner`, unless somebody else has it who was seen within `silence`. All leases of the owner before,
   * on operations and chores, are over from then on: what it ran can be claimed at once, with a new fence, as after a crash.
   */
  takeName(taking: NameTaking): Promise<NameAnswer>
  /** Says that the owner lives; false means that somebody else has the name. */
  renewName(name: string, owner: string): Promise<boolean>
  /** Gives the name up, where the owner still has it: the next one need not wait. */
  releaseName(name: string, owner: string): Promise<void>
}
