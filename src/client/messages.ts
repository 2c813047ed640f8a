import type { Json, JsonObject } from '../protocol/json.ts'

/**
 * The OSB API's messages as they stand on the wire. A broker may answer anything, so every field of an answer is
 * optional: these types say what the API promises, not what was checked.
 */
export interface WireError {
  readonly error?: string
  readonly description?: string
  readonly instance_usable?: boolean
  readonly update_repeatable?: boolean
}

export interface WireMaintenanceInfo {
  readonly version: string
  readonly description?: string
}

export interface WirePlan {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly metadata?: JsonObject
  readonly free?: boolean
  readonly bindable?: boolean
  readonly binding_rotatable?: boolean
  readonly plan_updateable?: boolean
  readonly schemas?: JsonObject
  readonly maximum_polling_duration?: number
  readonly maintenance_info?: WireMaintenanceInfo
}

export interface WireOffering {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly bindable: boolean
  readonly tags?: readonly string[]
  readonly requires?: readonly string[]
  readonly instances_retrievable?: boolean
  readonly bindings_retrievable?: boolean
  readonly allow_context_updates?: boolean
  readonly metadata?: JsonObject
  readonly dashboard_client?: JsonObject
  readonly plan_updateable?: boolean
  readonly plans: readonly WirePlan[]
}

export interface WireCatalog extends WireError {
  readonly services?: readonly WireOffering[]
}

export interface ProvisionRequest {
  readonly service_id: string
  readonly plan_id: string
  readonly organization_guid?: string
  readonly space_guid?: string
  readonly context?: JsonObject
  readonly parameters?: JsonObject
  readonly maintenance_info?: { readonly version: string }
}

export interface UpdateRequest {
  readonly service_id: string
  readonly plan_id?: string
  readonly context?: JsonObject
  readonly parameters?: JsonObject
  readonly previous_values?: JsonObject
  readonly maintenance_info?: { readonly version: string }
}

/** `service_id` and `plan_id` are mandatory but in a rotation, which names its predecessor instead (ROT-05). */
export interface BindRequest {
  readonly service_id?: string
  readonly plan_id?: string
  readonly context?: JsonObject
  readonly app_guid?: string
  readonly bind_resource?: JsonObject
  readonly parameters?: JsonObject
  readonly predecessor_binding_id?: string
}

/** The query of a DELETE. */
export interface DeleteQuery {
  readonly service_id: string
  readonly plan_id: string
}

/** The query of a GET: the broker may use it to find its way, and must do without it. */
export interface FetchQuery {
  readonly service_id?: string
  readonly plan_id?: string
}

export interface LastOperationQuery extends FetchQuery {
  readonly operation?: string
}

export interface InstanceMetadataBody {
  readonly labels?: JsonObject
  readonly attributes?: JsonObject
}

/** The answer to provision and update. */
export interface InstanceAnswer extends WireError {
  readonly dashboard_url?: string | null
  readonly operation?: string | null
  readonly metadata?: InstanceMetadataBody
}

export interface FetchedInstance extends WireError {
  readonly service_id?: string
  readonly plan_id?: string
  readonly dashboard_url?: string | null
  readonly parameters?: JsonObject
  readonly maintenance_info?: WireMaintenanceInfo
  readonly metadata?: InstanceMetadataBody
}

/** What a binding hands to an application. */
export interface BindingData {
  readonly credentials?: JsonObject
  readonly syslog_drain_url?: string
  readonly route_service_url?: string
  readonly volume_mounts?: readonly Json[]
  readonly endpoints?: readonly Json[]
  readonly metadata?: JsonObject
}

export interface BindAnswer extends BindingData, WireError {
  readonly operation?: string | null
}

export interface FetchedBinding extends BindingData, WireError {
  readonly parameters?: JsonObject
}

/** The answer to deprovision and unbind. */
export interface DeleteAnswer extends WireError {
  readonly operation?: string | null
}

export interface LastOperation extends WireError {
  readonly state?: 'in progress' | 'succeeded' | 'failed'
}
