/**
 * What every store promises, in five contracts: `Ledger` (operations), `Upkeep` (chores and removals), `Marketplace` (what
 * came from registries), `Notes` (of the operators' API) and `Reads`. Implementations stand in `store/`. `purser/testing` has a suite for each contract:
 * the suites are the exact meaning of these files.
 *
 * - One transaction per method. When a method has resolved, its effect survives a crash; when it has thrown, it had none,
 *   or (a lost connection) the caller finds out by reading: no method is repeated blindly.
 * - The operation row is the queue. An operation whose lease has run out is claimed like any other: there is no recovery.
 * - Every write of a worker is conditional on (operation, fence, running). `false` means lost: stop, write nothing more.
 * - At most one active operation per resource, by a unique index. Locks are taken instance -> operation -> step.
 * - `now` is the store's clock; workers' clocks decide nothing.
 * - Wake-ups only shorten a wait: a worker that hears none still finds its work by claiming.
 */
import type { Chain } from './chain.ts'
import type { Ledger } from './ledger.ts'
import type { Marketplace } from './marketplace.ts'
import type { Moving } from './moving.ts'
import type { Notes } from './notes.ts'
import type { KnownRows, Reads } from './reads.ts'
import type { Sealing } from './sealing.ts'
import type { Upkeep } from './upkeep.ts'

export type * from './chain.ts'
export type { Binding, BindingPhase } from './domain/binding.ts'
export type { CatalogChanges, RegisteredService, RegistryState, VanishedImage } from './domain/catalog-state.ts'
export type { Change, Finishing, HistoryEvent, HistoryType, Snapshot, Verdict } from './domain/change.ts'
export type { Condition, Drained, Instance, InstanceMetadata, InstancePhase } from './domain/instance.ts'
export type { OperationVerb } from './domain/judge-verb.ts'
export type { LeftOut } from './domain/left-out.ts'
export type {
  FinalState,
  Hold,
  Operation,
  OperationError,
  OperationInput,
  OperationState,
  Step,
  StepTry,
} from './domain/operation.ts'
export type { Verb } from './domain/operator.ts'
export type { PlatformUse, Quota, Within } from './domain/quota.ts'
export type { NameHolder, NameTaking } from './domain/replica-name.ts'
export type { Revision } from './domain/revision.ts'
export type { SharedResource, SharedVerdict, SharedWish } from './domain/shared-claim.ts'
export type { SweepFirst, Tombstone } from './domain/sweep-first.ts'
export type * from './ledger.ts'
export type * from './marketplace.ts'
export type * from './moving.ts'
export type * from './notes.ts'
export * from './reads.ts'
export * from './sealing.ts'
export type * from './upkeep.ts'

export type WakeUp =
  | { readonly type: 'work' }
  | { readonly type: 'finished'; readonly operationId: string }
  | { readonly type: 'catalog' }

/** Tells listeners when there may be work, an operation has ended, or the catalog has changed. Answers how to stop. */
export interface WakeUpSource {
  onWakeUp(listener: (wakeUp: WakeUp) => void): () => void
}

export interface Store extends Ledger, Upkeep, Marketplace, Notes, Reads, WakeUpSource {
  /** How people name it: `memory:`, `sqlite:/path`. Holds no password. */
  readonly name: string
  /** Where some rows need no round through a database: polls, which are most requests, are answered from them at once. */
  readonly known?: KnownRows
  /** How its rows get into another store. */
  readonly moving?: Moving
  /** What of it is encrypted, and with which keys; absent where it knows of none. */
  readonly sealing?: Sealing
  /** Its history as a chain; absent in a store that keeps none. */
  readonly chain?: Chain
  /** Throws where the store cannot be used now. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** The store did not answer, or could not write (a full disk): the request is answered 503 and may be repeated. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** A note is not of the version that it was: somebody else was faster. */
export class NoteConflictError extends Error {
  override readonly name = 'NoteConflictError'
}

/** The revision that an instance was to be pinned to is not stored (any more): read the catalog again. */
export class RevisionGoneError extends Error {
  override readonly name = 'RevisionGoneError'
}

export type StoreOpenFailure =
  | 'no-driver'
  | 'broken-driver'
  | 'bad-url'
  | 'bad-schema'
  | 'unreachable'
  | 'refused'
  | 'no-rights'
  | 'unsuitable-server'
  | 'not-a-replica-set'
  | 'locked'
  | 'unusable-path'
  | 'full'
  | 'not-a-database'
  /** What is there belongs to another program. */
  | 'foreign-database'
  | 'foreign-schema'
  | 'foreign-collections'
  /** A newer release wrote it. */
  | 'newer-version'
  /** It was written with a key that is not configured, or that is another one now. */
  | 'missing-key'

/** The store cannot be opened. Its message says what is in the way and what to do about it, and holds no password. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError'
  readonly failure: StoreOpenFailure

  constructor(failure: StoreOpenFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}
