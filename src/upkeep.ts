/** Upkeep: chores that one replica at a time does, what is due for a look, and the removal of what nobody needs any more. */
import type { FinalState } from './domain/operation.ts'
import type { JsonObject } from './protocol/json.ts'

/** What a caller wants a chore for: the period that began at `dueAt`. */
export interface ChoreTaking {
  readonly name: string
  readonly dueAt: number
  readonly owner: string
  readonly leaseTime: number
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

/** What a replica says of itself, or has counted for all: operators look at it, and nothing is decided by it. */
export interface Bulletin {
  readonly kind: 'worker' | 'survey'
  /** Of its kind there is one bulletin under a key. */
  readonly key: string
  readonly doc: JsonObject
  /** When it was written, by the store's clock. */
  readonly at: number
}

export interface BulletinWriting extends Omit<Bulletin, 'at'> {
  /** So long it is told; with 0, not from now on. */
  readonly keepFor: number
}

export interface ExpiringBinding {
  readonly instanceId: string
  readonly id: string
}

export interface Upkeep {
  /**
   * Takes the chore for the period that began at `dueAt`. Of all callers of all replicas one gets it: undefined where this
   * period or a later one was taken before (but for a run whose holder is gone before it ended: that is taken over), where
   * the run before it is still held, and where `dueAt` lies ahead of the store's clock.
   */
  takeChore(chore: ChoreTaking): Promise<ChoreLease | undefined>
  /** As `renew`: false means lost. */
  renewChore(lease: ChoreLease, leaseTime: number): Promise<boolean>
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
   * that belongs to them (bindings, operations, steps, claims on shared resources) but their history, and deleted bindings
   * of instances that live on, with their operations. None that has an active operation of its own or of a binding of it,
   * and none that is `unclean` still. Answers how many.
   */
  purge(before: number, max: number): Promise<number>

  /** Writes the bulletin in the place of the one before it, and forgets those of its kind whose time is over. */
  putBulletin(bulletin: BulletinWriting): Promise<void>
  /** The bulletins of a kind, by key, and the store's clock. */
  bulletins(kind: Bulletin['kind']): Promise<{ readonly now: number; readonly bulletins: readonly Bulletin[] }>

  /** Ids of instances whose `observeAt` has come, oldest first. */
  dueForObservation(max: number): Promise<readonly string[]>
  /** Bindings whose expiry is due for a look (`noticeAt`, else `expiresAt`), oldest first; none that is deleted. */
  dueForExpiry(max: number): Promise<readonly ExpiringBinding[]>
}
