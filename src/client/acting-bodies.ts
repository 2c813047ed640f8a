/** What the operators' API takes and sends where operators act, and what it tells about the whole broker. */
import type { JsonObject } from '../protocol/json.ts'
import type { AllowedActionsBody, ListBody, Problem } from './admin-bodies.ts'

/** What another broker made, or would be: see docs/reference/admin-api.md for its fields. */
export interface ToAdopt extends JsonObject {
  readonly reason: string
  readonly dry_run?: boolean
}

export interface AdoptedBody extends Problem {
  readonly instance_id?: string
  readonly service_id?: string
  readonly plan_id?: string
  readonly revision?: string
  /** Absent where only bindings were sent. */
  readonly outcome?: AdoptOutcome
  readonly dry_run?: boolean
  readonly warnings?: readonly string[]
  readonly bindings?: readonly {
    readonly binding_id: string
    readonly outcome: AdoptOutcome
    readonly warnings: readonly string[]
  }[]
}

export type AdoptOutcome = 'adopted' | 'unchanged'

/** What the list of operations or of instances takes. */
type BatchFilter = Readonly<Record<string, string | boolean | undefined>>

/** What many verbs are given at once, or one of the two: `ids`, or a filter; or the `token` of a dry run. */
export interface BatchOrderBody {
  readonly action?: string
  readonly reason?: string
  readonly ids?: readonly string[]
  readonly operations?: BatchFilter
  readonly instances?: BatchFilter
  readonly message?: string
  readonly revision?: string
  readonly bindings?: boolean
  readonly dry_run?: boolean
  readonly concurrency?: number
  readonly canary?: number
  readonly stop_after_failures?: number
  readonly token?: string
}

export interface BatchBody extends Problem {
  readonly id: string
  readonly state: string
  readonly action: string
  readonly reason: string
  readonly by: string
  /** Of one that was applied from a dry run: who has made that. */
  readonly planned_by?: string
  readonly total: number
  readonly created_at: string
  readonly started_at?: string
  readonly finished_at?: string
  /** Why it was stopped. */
  readonly why?: string
  /** How many items have ended, and how; absent in lists. */
  readonly done?: number
  readonly refused?: number
  readonly left?: number
  /** Of a dry run. */
  readonly token?: string
  readonly allowed?: number
  readonly items?: readonly BatchItemBody[]
}

export interface BatchItemBody {
  readonly id: string
  /** Of a dry run. */
  readonly allowed?: boolean
  readonly reason?: string
  /** done, refused or pending. */
  readonly outcome?: string
  readonly operation?: string
  readonly status?: number
  readonly error?: string
  readonly detail?: string
}

/** What platforms ask for anew is refused. */
/** Who is signed in to the console. */
export interface SessionBody {
  readonly id: string
  readonly principal: string
  readonly scheme: string
  readonly address?: string
  readonly begun_at: string
  readonly expires_at: string
}

export interface GateBody {
  readonly action: string
  readonly service_id?: string
  readonly plan_id?: string
  readonly message: string
  /** Seconds; absent: the request has failed. */
  readonly retry_after?: number
  readonly reason?: string
  readonly by: string
  readonly since: string
}

/** Who asks, and what these credentials may do. */
export interface MeBody extends Problem {
  readonly name?: string
  readonly role?: string
  readonly roles?: readonly string[]
  readonly allowed_actions?: AllowedActionsBody
}

/** What there is, in numbers, as of `at`. */
export interface StatsBody extends Problem {
  readonly at?: string
  readonly age_seconds?: number
  readonly window_seconds?: number
  readonly operations?: JsonObject
  readonly active?: readonly JsonObject[]
  readonly ended?: readonly JsonObject[]
  readonly instances?: readonly JsonObject[]
  readonly bindings?: readonly JsonObject[]
}

/** What a platform has, and what it may have: what is absent there is not limited. */
export interface QuotaBody {
  readonly platform: string
  readonly use: { readonly instances: number; readonly bindings: number; readonly operations: number }
  readonly limit: { readonly instances?: number; readonly bindings?: number; readonly operations?: number }
}

export interface WorkerBody {
  readonly owner: string
  readonly name?: string
  readonly version: string
  readonly since: string
  readonly seen_at: string
  readonly slots: number
  readonly used: number
  readonly free: number
  readonly leases: number
}

/** What an operator did by hand, and who signed in to the console. */
export interface ActBody {
  readonly at: string
  /** Absent where nobody knows who it was. */
  readonly by?: string
  /** Whose session it was, or whose credentials were tried. */
  readonly principal?: string
  readonly address?: string
  readonly verb: string
  readonly reason?: string
  readonly message?: string
  /** Empty where it was about none. */
  readonly instance_id: string
  readonly operation_id?: string
  readonly before?: JsonObject
  readonly after?: JsonObject
}

/** Where the chain of the history begins and ends. `key` has proven it; `keyed` says whether the broker has one. */
export interface ChainBody {
  readonly anchor: LinkBody
  readonly head: LinkBody
  readonly proof: 'proven' | 'none' | 'wrong' | 'missing-key'
  readonly key?: string
  readonly keyed: boolean
  /** Lines that are not in the chain yet, and lines with a number that none of the chain can have. */
  readonly unlinked: number
  readonly strays: number
}

export interface LinkBody {
  readonly no: number
  readonly hash: string
}

/** A line of the chain. Without `entry` its row cannot be read any more. */
export interface EntryBody extends LinkBody {
  readonly entry?: JsonObject
}

/** Failures of one kind. */
export interface ErrorGroupBody {
  readonly fingerprint: string
  readonly service_id: string
  readonly action: string
  readonly step?: string
  readonly count: number
  readonly failed: number
  readonly retrying: number
  readonly first_at: string
  readonly last_at: string
  readonly sample: { readonly operation_id: string; readonly instance_id: string; readonly message: string }
  readonly operations: readonly string[]
}

export interface RevisionsBody extends ListBody<JsonObject> {
  readonly at?: string
  readonly age_seconds?: number
}

/** The least that gets a line in the log of a replica, by area. */
export interface LogLevelsBody extends Problem {
  readonly levels?: Readonly<Record<string, string>>
}
