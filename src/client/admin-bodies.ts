/** What the operators' API sends about rows, chores and registries. */
import type { JsonObject } from '../protocol/json.ts'

/** A refusal of the operators' API (RFC 9457). */
export interface Problem {
  readonly type?: string
  readonly title?: string
  readonly status?: number
  readonly detail?: string
  /** The code of docs/reference/errors.md. */
  readonly error?: string
}

/** A chore as the operators' API shows it. Times are ISO 8601; what is not known is absent. */
export interface ChoreBody {
  readonly name: string
  /** Absent: off. */
  readonly pattern?: string
  readonly time_zone?: string
  readonly next_at?: string
  readonly running: boolean
  /** Nobody has taken it for three periods. */
  readonly late?: boolean
  /** The latest run: the time it stands for, when it was, who did it and how it ended. */
  readonly due_at?: string
  readonly started_at?: string
  readonly finished_at?: string
  readonly owner?: string
  readonly ok?: boolean
  readonly message?: string
}

export interface ChoresBody extends Problem {
  readonly chores?: readonly ChoreBody[]
}

export interface StartedRun extends Problem {
  readonly name?: string
  readonly started?: boolean
  readonly due_at?: string
}

/** What is encrypted, and with which keys. */
export interface KeysBody extends Problem {
  /** The label of the key for new values; absent where there is none. */
  readonly current?: string
  readonly keys?: readonly KeyBody[]
  /** How many values are not encrypted. */
  readonly plain_values?: number
}

export interface KeyBody {
  readonly label: string
  readonly configured: boolean
  /** How many values it protects. */
  readonly values: number
}

/** How a registry answers. What is not known is absent: one that was never asked has no times. */
export interface RegistryBody {
  readonly name: string
  /** Absent: it is not configured any more. */
  readonly type?: string
  readonly checked_at?: string
  readonly last_answer_at?: string
  /** Whether the last answer left something out. */
  readonly partial?: boolean
  /** Failures in a row. */
  readonly failures?: number
  readonly silent_since?: string
  readonly last_problem?: string
  /** What of the last answer could not be used; the first thousand. */
  readonly problems?: readonly string[]
  /** What is wrong with bundles that are offered all the same; the first thousand. */
  readonly warnings?: readonly string[]
  /** Images that instances are pinned to, and that it has no more. */
  readonly vanished?: readonly VanishedImageBody[]
  readonly next_at?: string
}

/** A service that came from a registry. */
export interface RegisteredServiceBody {
  readonly id: string
  readonly name: string
  readonly registry: string
  /** What new instances are provisioned with. */
  readonly revision: string
  readonly bundle_version?: string
  readonly image?: string
  readonly tag?: string
  readonly digest?: string
  /** Present: out of the catalog, kept for the instances that need it. */
  readonly retired_at?: string
  readonly instances: readonly { readonly revision: string; readonly bundle_version?: string; readonly count: number }[]
}

export interface ReportedServiceBody {
  readonly service_id: string
  readonly full_name: string
  readonly registry: string
  readonly tag?: string
  readonly bundle_version?: string
  readonly reason?: string
}

export type ServiceChange = 'added' | 'updated' | 'returned' | 'retired' | 'deleted'

export interface ChangeReport extends Readonly<Partial<Record<ServiceChange, readonly ReportedServiceBody[]>>> {
  readonly collisions?: readonly CollisionBody[]
  readonly problems?: readonly ReportedProblemBody[]
  readonly warnings?: readonly ReportedProblemBody[]
}

export interface VanishedImageBody {
  readonly image: string
  readonly service: string
  readonly instances: number
}

export interface ReportedProblemBody {
  readonly registry?: string
  readonly name?: string
  readonly problem: string
}

/** Two bundles of one name: one of them is left out. */
export interface CollisionBody {
  readonly service_id: string
  readonly full_name: string
  readonly offered: { readonly registry: string; readonly name: string }
  readonly left_out: { readonly registry: string; readonly name: string }
}

export interface RegistriesBody extends Problem {
  readonly registries?: readonly RegistryBody[]
  readonly services?: readonly RegisteredServiceBody[]
  readonly last_change?: { readonly at: string; readonly report: ChangeReport }
}

/** The end of what each run of an operation's bundle printed, without secrets. */
export interface OperationLogBody extends Problem {
  readonly operation?: string
  readonly action?: string
  readonly state?: string
  readonly instance_id?: string
  readonly binding_id?: string
  readonly runs?: readonly RunLogBody[]
}

export interface RunLogBody {
  readonly name: string
  readonly exit?: number
  readonly verdict?: string
  readonly message?: string
  readonly log: string
}

/** A page of a list. `next` is the cursor of the page after it. */
export interface ListBody<Item> extends Problem {
  readonly items?: readonly Item[]
  readonly next?: string
}

/** What may be done now, by verb: `reason` says why not. */
export type AllowedActionsBody = Readonly<Record<string, { readonly allowed: boolean; readonly reason?: string }>>

export interface OperationBody extends Omit<Problem, 'error'> {
  readonly id: string
  readonly instance_id: string
  readonly binding_id?: string
  readonly service_id: string
  readonly action: string
  readonly state: string
  readonly description?: string
  readonly error?: { readonly message: string } | string
  readonly attempt: number
  readonly not_before: string
  readonly deadline_at: string
  /** It is held: since when, by which operator, and what it fails with where nobody decides. */
  readonly hold?: { readonly since: string; readonly by?: string; readonly error?: { readonly message: string } }
  readonly request_id?: string
  readonly accepted_at: string
  readonly finished_at?: string
}

/** More of one operation than a list shows. */
export interface ShownOperationBody extends OperationBody {
  readonly retry_of?: string
  readonly lease_owner?: string
  readonly lease_until?: string
  /** In words; absent when it has ended. */
  readonly waiting_for?: string
  readonly steps?: readonly {
    readonly name: string
    readonly state: string
    readonly attempts: number
    readonly started_at: string
    readonly error?: string
  }[]
  readonly allowed_actions?: AllowedActionsBody
}

/** What was last seen of an instance. */
export type ConditionBody = {
  readonly type: string
  readonly status: boolean
  readonly reason?: string
  readonly message?: string
  readonly since: string
  readonly observed_at: string
}

export interface InstanceBody extends Problem {
  readonly id: string
  readonly platform: string
  readonly service_id: string
  readonly plan_id: string
  readonly phase: string
  readonly usable: boolean
  readonly revision_id?: string
  readonly last_operation_id: string
  readonly conditions?: readonly ConditionBody[]
  readonly created_at: string
  readonly updated_at: string
  readonly deleted_at?: string
}

export interface BindingBody {
  readonly instance_id: string
  readonly id: string
  readonly service_id: string
  readonly plan_id: string
  readonly phase: string
  readonly last_operation_id: string
  readonly created_at: string
  readonly expires_at?: string
  readonly renew_before?: string
  readonly deleted_at?: string
}

export interface ShownInstanceBody extends InstanceBody {
  readonly bindings?: readonly BindingBody[]
  readonly last_operation?: OperationBody
  readonly allowed_actions?: AllowedActionsBody
}

/** What happened to an operation, oldest first: lines of the history, and steps. */
export interface TimelineBody extends Problem {
  readonly operation?: string
  readonly state?: string
  readonly events?: readonly (JsonObject & { readonly at: string; readonly type: string })[]
}

export interface MovedBody extends Problem {
  readonly instance_id?: string
  readonly service_id?: string
  readonly plan_id?: string
  readonly revision?: string
  readonly moved_from?: string
}

/** What an instance knew of that nobody has removed. Names only. */
export interface RemainsBody {
  readonly revision?: string
  readonly dashboard_url?: string
  readonly state_keys: readonly string[]
  readonly sandboxes: readonly string[]
  readonly bindings: readonly {
    readonly id: string
    readonly state_keys: readonly string[]
    readonly sandboxes: readonly string[]
  }[]
  readonly quiet_until?: string
}

export interface AbandonedBody extends Problem {
  readonly instance_id?: string
  readonly service_id?: string
  readonly plan_id?: string
  readonly phase?: string
  /** What answers polls of its deletion. */
  readonly operation?: string
  readonly ended?: { readonly operation: string; readonly action: string; readonly state: string }
  readonly remains?: RemainsBody
}

/** What a backend and the ledger do not agree on. */
export interface OrphanBody {
  readonly kind: 'orphan' | 'missing'
  readonly service_id: string
  readonly name: string
  readonly instance_id?: string
  readonly binding_id?: string
  readonly created_at?: string
  readonly detail?: string
  readonly removable: boolean
  /** Why it is left alone. */
  readonly reason?: string
  /** What removes it. */
  readonly operation?: string
}

export interface OrphansBody extends Problem {
  readonly items?: readonly OrphanBody[]
  /** Services whose backend was compared. */
  readonly services?: readonly string[]
  /** Those whose backend could not be compared, and why. */
  readonly failed?: readonly { readonly service_id: string; readonly reason: string }[]
  /** There was more than is told. */
  readonly incomplete?: boolean
  readonly dry_run?: boolean
}
