/** Reads: what requests, operators and lists look at. None of them waits for a lock or changes anything. */
import type { Binding, BindingPhase } from './domain/binding.ts'
import type { HistoryEvent } from './domain/change.ts'
import type { Instance, InstancePhase } from './domain/instance.ts'
import type { LeftOut } from './domain/left-out.ts'
import type { Operation, OperationState, Step } from './domain/operation.ts'
import type { Verb } from './domain/operator.ts'
import type { PlatformUse } from './domain/quota.ts'

export interface Reads {
  instance(id: string): Promise<Instance | undefined>
  binding(instanceId: string, id: string): Promise<Binding | undefined>
  /** Every binding of the instance that is not deleted. */
  bindings(instanceId: string): Promise<readonly Binding[]>
  /**
   * Instances that claim a shared resource and are observed: at most so many, in an order that is the same for everybody. By an
   * index of its claims.
   */
  claimants(key: string, most: number): Promise<readonly string[]>
  operation(id: string): Promise<Operation | undefined>
  /** The steps of an operation, in the order in which they were first written. */
  steps(operationId: string): Promise<readonly Step[]>
  /** The history of one instance, oldest first, and before it that of one that had its id and was purged. */
  history(instanceId: string): Promise<readonly HistoryEvent[]>

  /**
   * What waits for a worker and what has one, over all replicas, but for what is left out. Nothing is counted beyond `most`. By
   * an index, but not for every request.
   */
  backlog(most: number, leftOut?: LeftOut): Promise<Backlog>

  /**
   * How many instances each plan has, in no order, those that are being created too, and but for those that are deleted. It
   * looks at every instance: for a start, not for a request.
   */
  instanceCounts(): Promise<readonly InstanceCount[]>

  /** Platforms that have an instance which is not deleted, in no order. By an index of all instances: for an operator. */
  platforms(): Promise<readonly string[]>
  /** What a platform has. By indexes, and one by one: for an operator. */
  platformUse(platform: string): Promise<PlatformUse>

  /**
   * What there is, in numbers. It looks at all that is active or has ended since `endedSince`, and at an index of all instances
   * and bindings: for a chore, not for a request.
   */
  survey(endedSince: number): Promise<Survey>

  /**
   * Operations that have failed, the latest accepted first, and those that try again after a failure: at most so many of each.
   * By indexes.
   */
  failures(most: number): Promise<readonly FailedOperation[]>

  /** What operators did by hand, their sign-ins among it, by the time they did it. */
  listActs(query?: ActQuery): Promise<Page<HistoryEvent>>

  /** Instances by the time they were created. Those that are deleted only where the query asks for that phase. */
  listInstances(query?: InstanceQuery): Promise<Page<InstanceSummary>>
  /** Bindings by the time they were created, or by the time they expire. Those that are deleted only where the query asks for that phase. */
  listBindings(query?: BindingQuery): Promise<Page<BindingSummary>>
  /** Operations by the time they were accepted, or by the time they ended. */
  listOperations(query?: OperationQuery): Promise<Page<OperationSummary>>
}

/**
 * Rows that a store has at hand. What it shows is what the ledger holds at this moment; undefined says nothing: then the row is
 * read.
 */
export interface KnownRows {
  instance(id: string): Instance | undefined
  binding(instanceId: string, id: string): Binding | undefined
  operation(id: string): Operation | undefined
}

export interface Backlog {
  /** Operations that can be claimed now. */
  readonly due: number
  /** Since when the first of them could be. */
  readonly dueSince?: number
  /** Operations whose lease stands. */
  readonly running: number
  /** The store's clock. */
  readonly now: number
}

export interface InstanceCount extends Pick<Instance, 'serviceId' | 'planId'> {
  /** Whether they are pinned to revisions. Both kinds of one plan are counted apart. */
  readonly pinned: boolean
  readonly instances: number
}

/** `step`: of one that is active, what has failed so far. */
export interface FailedOperation
  extends Pick<
    Operation,
    'id' | 'instanceId' | 'bindingId' | 'serviceId' | 'action' | 'error' | 'acceptedAt' | 'finishedAt'
  > {
  readonly step?: Step
}

/** In no order. */
export interface Survey {
  /** Those that have not ended, by action and state. */
  readonly active: readonly ActiveCount[]
  readonly ended: readonly EndedCount[]
  /** Those that are not deleted. */
  readonly instances: readonly (Pick<Instance, 'serviceId' | 'planId' | 'phase' | 'usable'> & {
    readonly instances: number
  })[]
  readonly bindings: readonly (Pick<Binding, 'serviceId' | 'phase'> & { readonly bindings: number })[]
  /** The store's clock. */
  readonly now: number
}

export interface EndedCount extends Pick<Operation, 'action' | 'state'> {
  readonly operations: number
}

export interface ActiveCount extends EndedCount {
  /** Of those that wait in the queue, how many wait for an operator. */
  readonly held: number
  /** When the first of them was accepted, and the first of those that have begun. */
  readonly acceptedSince: number
  readonly begunSince?: number
  /** Since when the first of them can be claimed, where one can. */
  readonly dueSince?: number
  readonly pastDeadline: number
}

/**
 * One page of a list. Pages are found by the position of the last row before them, never by counting rows: whoever follows
 * `next` to the end sees each row that was there from the beginning and stays exactly once, whatever comes or goes meanwhile.
 */
export interface Page<Item> {
  readonly items: readonly Item[]
  /**
   * The cursor of the page after this one; undefined where this is the last one. A page that has one may be short, and even
   * empty: it ends where enough rows were looked at for one page.
   */
  readonly next?: string
}

/** A query that makes no sense is refused: RangeError, or TypeError for a key that the list does not know. */
export interface ListQuery {
  /** `newest` first is the default. Rows of the same millisecond come in a fixed order of the store's choice. */
  readonly order?: 'newest' | 'oldest'
  /** From 1 on, 50 by default; more than `largestPage` are `largestPage`. */
  readonly limit?: number
  /**
   * How many rows may be looked at for the page, from 1 on. By default and at most `largestWalk`; a store that reads them from
   * nowhere looks at more.
   */
  readonly examine?: number
  /** `next` of the page before. CursorError where it is not from the same list in the same order. */
  readonly cursor?: string
}

export const largestPage = 500
export const largestWalk = 2_000

export interface InstanceQuery extends ListQuery {
  readonly platform?: string
  readonly serviceId?: string
  readonly planId?: string
  /** The revision that the instance is pinned to. */
  readonly revisionId?: string
  readonly phase?: InstancePhase
  readonly usable?: boolean
}

export interface BindingQuery extends ListQuery {
  readonly instanceId?: string
  readonly serviceId?: string
  readonly planId?: string
  readonly phase?: BindingPhase
  /** Which time the list is ordered by; `expires` leaves out bindings that never expire or are deleted. `created` is the default. */
  readonly by?: 'created' | 'expires'
  /** Of that time: from `after` on, and earlier than `before` (milliseconds of the store's clock). */
  readonly after?: number
  readonly before?: number
}

export interface OperationQuery extends ListQuery {
  /** Those of one instance and of its bindings, or of one binding. */
  readonly of?: { readonly instanceId: string; readonly bindingId?: string }
  readonly action?: Operation['action']
  readonly state?: OperationState
  readonly serviceId?: string
  readonly planId?: string
  readonly platform?: string
  /** Those that have failed in this step, or with this fingerprint. */
  readonly step?: string
  readonly fingerprint?: string
  /** Which time the list is ordered by; `finished` leaves out operations that have not ended. `accepted` is the default. */
  readonly by?: 'accepted' | 'finished'
  /** Of that time: from `after` on, and earlier than `before` (milliseconds of the store's clock). */
  readonly after?: number
  readonly before?: number
}

export interface ActQuery extends ListQuery {
  readonly by?: string
  readonly verb?: Verb
  readonly instanceId?: string
  /** From `after` on, and earlier than `before` (milliseconds of the store's clock). */
  readonly after?: number
  readonly before?: number
}

/** What a list shows of an instance: nothing that is sealed, and no token. */
export type InstanceSummary = Pick<Instance, (typeof instanceSummaryKeys)[number]>
export type BindingSummary = Pick<Binding, (typeof bindingSummaryKeys)[number]>
export type OperationSummary = Pick<Operation, (typeof operationSummaryKeys)[number]>

export const instanceSummaryKeys = [
  'id',
  'platform',
  'serviceId',
  'planId',
  'phase',
  'created',
  'usable',
  'context',
  'conditions',
  'maintenanceVersion',
  'revisionId',
  'nextRevisionId',
  'lastOperationId',
  'createdAt',
  'updatedAt',
  'deletedAt',
] as const satisfies readonly (keyof Instance)[]

export const bindingSummaryKeys = [
  'instanceId',
  'id',
  'serviceId',
  'planId',
  'phase',
  'appGuid',
  'predecessorId',
  'expiresAt',
  'renewBefore',
  'lastOperationId',
  'createdAt',
  'updatedAt',
  'deletedAt',
] as const satisfies readonly (keyof Binding)[]

export const operationSummaryKeys = [
  'id',
  'instanceId',
  'bindingId',
  'serviceId',
  'planId',
  'platform',
  'action',
  'state',
  'description',
  'error',
  'attempt',
  'notBefore',
  'deadlineAt',
  'hold',
  'requestId',
  'acceptedAt',
  'finishedAt',
] as const satisfies readonly (keyof Operation)[]

/** The cursor is not one of this list in this order. */
export class CursorError extends Error {
  override readonly name = 'CursorError'
}
