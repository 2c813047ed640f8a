/**
 * The documents of the ledger. `doc` is a row as JSON text without what has a field of its own and without what is
 * sealed: as text, a user's keys may be anything, and the order of keys is kept. `seq` says which came first.
 */
import type { Collection, Db, Document, ObjectId } from 'mongodb'
import type { BindingPhase } from '../../domain/binding.ts'
import type { Link } from '../../domain/chain.ts'
import type { InstancePhase } from '../../domain/instance.ts'
import type { OperationState } from '../../domain/operation.ts'
import type { SharedResource } from '../../domain/shared-claim.ts'

/** Without `doc` it only holds the lock of an instance that has a history and no row. */
export interface InstanceDocument {
  readonly _id: string
  readonly id: string
  readonly seq: ObjectId
  /**
   * The instance's lock: every transaction that changes something of the instance raises it, so that of two that read
   * the same ledger the second fails and decides again.
   */
  readonly lock: number
  readonly observeAt?: number
  readonly phase?: InstancePhase
  /** The key of its latest operation. */
  readonly last?: string
  readonly uncleanUntil?: number
  /** Of those that are deleted. */
  readonly deletedAt?: number
  /** The revisions that it needs, and its plan as JSON; of those that need any. */
  readonly pins?: readonly string[]
  readonly plan?: string
  readonly listed?: ListedInstance
  readonly doc?: string
  readonly sealed?: string
  /** Apart from the rest that is sealed, since checkpoints replace it without knowing the rest. */
  readonly sealedState?: string
}

export interface BindingDocument {
  readonly _id: string
  readonly instance: string
  readonly seq: ObjectId
  readonly phase: BindingPhase
  readonly last: string
  readonly uncleanUntil?: number
  readonly deletedAt?: number
  readonly predecessor?: string
  readonly listed?: ListedBinding
  readonly doc: string
  readonly sealed: string
  readonly sealedState: string
}

/**
 * What lists filter and sort by: texts from outside as keys (see ../keys.ts). `live` where it is not deleted, `unready`
 * and `unsuccessful` where it is not what most are: partial indexes go by them.
 */
export interface ListedBinding {
  readonly createdAt: number
  readonly live?: true
  readonly unready?: true
  readonly service: string
  readonly plan: string
  /** Of bindings that expire: when, and when the chore has to look at it. */
  readonly expiresAt?: number
  readonly noticeAt?: number
}

export interface ListedInstance extends ListedBinding {
  readonly platform: string
  readonly usable: boolean
  readonly revision?: string
}

export interface ListedOperation {
  readonly acceptedAt: number
  readonly action: string
  readonly deadlineAt?: number
  readonly service?: string
  readonly plan?: string
  readonly platform?: string
  readonly step?: string
  readonly fingerprint?: string
  readonly hold?: true
  /** Failed or superseded. */
  readonly unsuccessful?: true
}

/** The steps are part of their operation: a checkpoint is one atomic update of one document. */
export interface OperationDocument {
  readonly _id: string
  readonly seq: ObjectId
  readonly instance: string
  readonly binding?: string
  readonly ofBinding: boolean
  /** The binding or, where there is none, the instance: what can have one active operation. */
  readonly resource: string
  readonly active?: true
  readonly state: OperationState
  readonly attempt: number
  readonly losses: number
  readonly notBefore: number
  readonly leaseOwner?: string
  readonly leaseUntil?: number
  /** Of active ones: `notBefore` while queued, `leaseUntil` while running. */
  readonly dueAt?: number
  /** Below zero while a claim is under way: nobody holds the lease yet, and the earlier holder does no longer. */
  readonly fence: number
  readonly takenOver?: boolean
  readonly drains?: string
  readonly unclean: boolean
  readonly checkpointAt?: number
  readonly description?: string
  readonly finishedAt?: number
  /**
   * The end of one that nobody needs any more: it is not, or no longer, the latest one of a resource that lives. A
   * clean-up finds what may go by it, and does not walk past what has to stay.
   */
  readonly spentAt?: number
  readonly listed?: ListedOperation
  readonly doc: string
  readonly sealed: string
  readonly steps: readonly StepDocument[]
  /** Raised by transactions under the lease. */
  readonly touched?: number
  /** What other replicas are to be told of the last write. */
  readonly wake?: string
}

export interface StepDocument {
  readonly key: string
  readonly done: boolean
  readonly doc: string
  readonly sealed: string
}

interface HistoryDocument {
  readonly _id: ObjectId
  readonly instance: string
  /** The lock of the instance when it was written, and the place among those written together. */
  readonly lock: number
  readonly place: number
  /** Absent until it is in the chain. */
  readonly link?: Link
  /** Of what an operator did: lists go by it. */
  readonly acted?: ActedDocument
  readonly doc: string
}

export interface ActedDocument {
  readonly at: number
  /** Which came first, of the same time. */
  readonly seq: string
  /** As a key (see ../keys.ts). */
  readonly by?: string
  readonly verb?: string
}

export interface BulletinDocument {
  readonly _id: string
  readonly kind: string
  readonly key: string
  readonly at: number
  readonly until: number
  readonly doc: string
}

export interface SharedDocument {
  readonly _id: string
  /** Absent where an earlier release wrote it. */
  readonly key?: string
  readonly lock: number
  readonly phase: SharedResource['phase']
  readonly holder?: string
}

interface ClaimDocument {
  readonly _id: string
  readonly resource: string
  readonly instance: string
}

export interface ChoreDocument {
  /** Its name. */
  readonly _id: string
  readonly dueAt: number
  readonly owner: string
  readonly startedAt: number
  readonly fence: number
  readonly leaseUntil?: number
  readonly finishedAt?: number
  readonly result?: string
}

export interface ReplicaDocument {
  /** Its name. */
  readonly _id: string
  readonly owner: string
  readonly since: number
  readonly seenAt?: number
  /** The owner before this one. */
  readonly former?: string
}

/** What came from registries; the ids of services and revisions are our own hashes. */
export interface RevisionDocument {
  readonly _id: string
  readonly service: string
  /** Where the rest of it stands: see change-catalog.ts. */
  readonly text: ObjectId
}

interface RevisionTextDocument {
  readonly _id: ObjectId
  /** Of the catalog that the change was decided from. */
  readonly version: number
  readonly doc: string
}

/** See lanes.ts. */
export interface LaneDocument {
  readonly _id: string
  readonly touched: number
}

export interface ServiceDocument {
  readonly _id: string
  readonly revision: string
  readonly retired: boolean
  readonly doc: string
}

export interface RegistryDocument {
  /** Its name. */
  readonly _id: string
  readonly doc: string
}

export interface CatalogDocument {
  readonly _id: 'catalog'
  readonly version: number
  readonly changedAt?: number
  readonly report?: string
  /** What other replicas are to be told of the last write. */
  readonly wake?: string
}

export interface NoteDocument {
  /** Its kind and its id, with a space between. */
  readonly _id: string
  readonly version: number
  readonly expiresAt?: number
  readonly doc: string
}

interface MetaDocument {
  readonly _id: 'ledger'
  readonly version: number
  /** The last fence that was given. */
  readonly fence: number
  /** While an import is under way. */
  readonly import?: { readonly id: string; readonly line: number }
}

export type Collections = ReturnType<typeof collectionsOf>

export function collectionsOf(db: Db, prefix: string) {
  const named = <Row extends Document>(name: string): Collection<Row> => db.collection(`${prefix}${name}`)
  return {
    meta: named<MetaDocument>('meta'),
    instance: named<InstanceDocument>('instance'),
    binding: named<BindingDocument>('binding'),
    operation: named<OperationDocument>('operation'),
    history: named<HistoryDocument>('history'),
    bulletin: named<BulletinDocument>('bulletin'),
    shared: named<SharedDocument>('shared'),
    claim: named<ClaimDocument>('claim'),
    chore: named<ChoreDocument>('chore'),
    replica: named<ReplicaDocument>('replica'),
    note: named<NoteDocument>('note'),
    catalog: named<CatalogDocument>('catalog'),
    registry: named<RegistryDocument>('registry'),
    service: named<ServiceDocument>('service'),
    revision: named<RevisionDocument>('revision'),
    revisionText: named<RevisionTextDocument>('revision_text'),
    lane: named<LaneDocument>('lane'),
  }
}
