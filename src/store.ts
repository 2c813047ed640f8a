/**
 * The ledger: what every store promises. Implementations stand in `store/`; `purser/testing` holds the suite that each of
 * them passes, and that is the real meaning of this file.
 *
 * - One transaction per method. When a method has resolved, its effect survives a crash; when it has thrown, it had none,
 *   or (a lost connection) the caller finds out by reading: no method is repeated blindly.
 * - The operation row is the queue. An operation whose lease has run out is claimed like any other: there is no recovery.
 * - Every write of a worker is conditional on (operation, fence, running). `false` means lost: stop, write nothing more.
 * - At most one active operation per resource, by a unique index. Locks are taken instance -> operation -> step.
 * - `now` is the store's clock; workers' clocks decide nothing.
 * - Wake-ups only shorten a wait: a worker that hears none still finds its work by claiming.
 */
import type { Binding } from './domain/binding.ts'
import type { CatalogChanges, RegisteredService, RegistryState } from './domain/catalog-state.ts'
import type { Change, HistoryEvent, Snapshot, Verdict } from './domain/change.ts'
import type { Instance } from './domain/instance.ts'
import type { FinalState, Operation, Step } from './domain/operation.ts'
import type { Revision } from './domain/revision.ts'
import type { SharedVerdict, SharedWish } from './domain/shared-claim.ts'
import type { JsonObject } from './protocol/json.ts'

export type { Binding } from './domain/binding.ts'
export type { CatalogChanges, RegisteredService, RegistryState } from './domain/catalog-state.ts'
export type { Change, HistoryEvent, Snapshot, Verdict } from './domain/change.ts'
export type { Instance } from './domain/instance.ts'
export type { FinalState, Operation, Step } from './domain/operation.ts'
export type { Revision } from './domain/revision.ts'

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

/** What a finishing decision is made from. */
export interface Finishing extends Snapshot {
  readonly finishing: Operation
}

/** A chore is taken for one period at a time; the same fence rules as for operations. */
export interface ChoreLease {
  readonly name: string
  readonly fence: number
}

/** How a run of a chore ended, for operators: what it did in a sentence. */
export interface ChoreResult {
  readonly ok: boolean
  readonly message: string
}

/** What the ledger knows of a chore: the period it was taken for last, by whom, and how that went. */
export interface Chore {
  readonly name: string
  /** The scheduled time that the latest run stands for. */
  readonly dueAt: number
  readonly owner: string
  readonly startedAt: number
  readonly fence: number
  /** There while the run has not ended; a time that has passed means that its holder is gone. */
  readonly leaseUntil?: number
  readonly finishedAt?: number
  readonly result?: ChoreResult
}

/** Which finished operations are no longer needed. */
export interface CleanUp {
  readonly of: 'instances' | 'bindings'
  readonly states: readonly FinalState[]
  /** Those that ended at this time of the store's clock or before. */
  readonly before: number
  readonly max: number
}

/** What came from registries, by service id and by revision id. */
export interface StoredCatalog {
  /** Rises with every change of a service or a revision. */
  readonly version: number
  readonly services: readonly RegisteredService[]
  readonly revisions: readonly Revision[]
}

/** How many instances of one plan need a revision: pinned to it, or being updated to it (`nextRevisionId`). */
export interface RevisionUse {
  readonly revisionId: string
  readonly planId: string
  readonly instances: number
}

export type WakeUp =
  | { readonly type: 'work' }
  | { readonly type: 'finished'; readonly operationId: string }
  | { readonly type: 'catalog' }

export interface Store {
  /** How people name it: `memory:`, `sqlite:/path`. Holds no password. */
  readonly name: string

  /**
   * Reads the target under its instance's lock, asks `decide` (pure, may throw: then nothing is written) and applies. An
   * instance that the change pins to a revision is written only if that revision is stored at that moment, and the
   * revision cannot go while the instance needs it: RevisionGoneError otherwise, and nothing is written.
   */
  accept<Answer>(target: Target, decide: (snapshot: Snapshot) => Verdict<Answer>): Promise<Answer>

  /** Leases up to `max` due operations to `owner`, oldest due first, each with a new fence. */
  claim(owner: string, max: number, leaseMs: number): Promise<Claims>
  /** Extends the leases; answers those that were still held. */
  renew(leases: readonly Lease[], leaseMs: number): Promise<readonly Lease[]>
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

  instance(id: string): Promise<Instance | undefined>
  binding(instanceId: string, id: string): Promise<Binding | undefined>
  /** Every binding of the instance that is not deleted. */
  bindings(instanceId: string): Promise<readonly Binding[]>
  operation(id: string): Promise<Operation | undefined>
  /** The steps of an operation, in the order in which they were first written. */
  steps(operationId: string): Promise<readonly Step[]>
  /** Ids of instances whose `observeAt` has come, oldest first. */
  dueForObservation(max: number): Promise<readonly string[]>
  /** The history of one instance, oldest first. */
  history(instanceId: string): Promise<readonly HistoryEvent[]>

  /**
   * Takes the chore for the period that began at `dueAt`. Of all callers of all replicas one gets it: undefined where this
   * period or a later one was taken before (but for a run whose holder is gone before it ended: that is taken over), where
   * the run before it is still held, and where `dueAt` lies ahead of the store's clock.
   */
  takeChore(name: string, dueAt: number, owner: string, leaseMs: number): Promise<ChoreLease | undefined>
  /** As `renew`: false means lost. */
  renewChore(lease: ChoreLease, leaseMs: number): Promise<boolean>
  /** Ends the run; false means lost, and nothing was written. */
  finishChore(lease: ChoreLease, result: ChoreResult): Promise<boolean>
  /** Every chore that ever ran, by name, and the store's clock, which the schedule of chores goes by. */
  chores(): Promise<{ readonly now: number; readonly chores: readonly Chore[] }>

  /**
   * Removes up to `max` finished operations with their steps, the oldest first, and answers how many. Never one that is
   * active or whose lease still stands, and never the latest one (`lastOperationId`) of an instance or a binding that is
   * not deleted.
   */
  cleanUp(cleanUp: CleanUp): Promise<number>
  /**
   * Removes up to `max` tombstones that were deleted at `before` or earlier, the oldest first: instances with everything
   * that belongs to them (bindings, operations, steps, history, claims on shared resources), and deleted bindings of
   * instances that live on, with their operations. None that has an active operation of its own or of a binding of it,
   * and none that is `unclean` still. Answers how many.
   */
  purge(before: number, max: number): Promise<number>

  /** Everything that came from registries; undefined where `known` is the version that it still has. */
  catalog(known?: number): Promise<StoredCatalog | undefined>
  /** Every registry that was ever asked, by name, the latest report of a change, and the store's clock. */
  registries(): Promise<{
    readonly now: number
    readonly registries: readonly RegistryState[]
    readonly lastChange?: { readonly at: number; readonly report: JsonObject }
  }>
  /** The uses of every revision, by instances that are not deleted, and those whose deletion is still swept. */
  revisionUses(): Promise<readonly RevisionUse[]>
  /**
   * Writes what a reconciliation or a sweep found out from the catalog of that version; false where it has another one by
   * now, and nothing is written. (Changes of registries alone are written whatever the version is.) A revision that an
   * instance needs at that moment is not deleted, nor the current one of a service that stays, and neither is a service
   * that has a revision in use or is not retired: they stay for the next run. Throws where a service would have a
   * revision that is not stored. Where a service or a revision changed, the version rises, `report` is kept with the
   * store's time, and every replica is woken.
   */
  changeCatalog(version: number, changes: CatalogChanges, report?: JsonObject): Promise<boolean>

  /** Throws where the store cannot be used now. */
  ping(): Promise<void>
  onWakeUp(listener: (wakeUp: WakeUp) => void): () => void
  close(): Promise<void>
}

/** The store did not answer, or could not write (a full disk): the request is answered 503 and may be repeated. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** The revision that an instance was to be pinned to is not stored (any more): read the catalog again. */
export class RevisionGoneError extends Error {
  override readonly name = 'RevisionGoneError'
}
