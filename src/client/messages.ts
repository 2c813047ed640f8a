import type { answers } from '../protocol/answers.ts'
import type { Offering, Plan } from '../protocol/offering.ts'
import type { requests } from '../protocol/requests.ts'
import type { Read, Shape } from '../shape/shape.ts'
import type { Wire } from '../shape/wire.ts'

/**
 * The OSB API's messages as they stand on the wire. A broker may answer anything, so every field of an answer is
 * optional: these types say what the API promises, not what was checked.
 */
type Message<S extends Shape> = Wire<Read<S>>
/** The API allows null for these two. */
type Nullable<Body> = {
  readonly [Key in keyof Body]: Key extends 'dashboard_url' | 'operation' ? Body[Key] | null : Body[Key]
}

export interface WireError extends Message<typeof answers.error> {}
export interface WirePlan extends Wire<Plan> {}
export interface WireOffering extends Wire<Offering> {}
export type WireMaintenanceInfo = NonNullable<WirePlan['maintenance_info']>

export interface WireCatalog extends WireError {
  readonly services?: readonly WireOffering[]
}

export interface ProvisionRequest extends Message<typeof requests.provision> {}
export interface UpdateRequest extends Message<typeof requests.update> {}
/** `service_id` and `plan_id` are mandatory except in a rotation, which names its predecessor instead (ROT-05). */
export interface BindRequest extends Message<typeof requests.bind> {}

/** The query of a GET: the broker may use it to find its way, and must do without it. */
export interface FetchQuery {
  readonly service_id?: string
  readonly plan_id?: string
}

export interface DeleteQuery extends Required<FetchQuery> {}

export interface LastOperationQuery extends FetchQuery {
  readonly operation?: string
}

/** The answer to provision and update. */
export interface InstanceAnswer extends Nullable<Message<typeof answers.provision>>, WireError {}
export type InstanceMetadataBody = NonNullable<InstanceAnswer['metadata']>
export interface FetchedInstance extends Nullable<Message<typeof answers.fetchInstance>>, WireError {}
export interface BindAnswer extends Nullable<Message<typeof answers.bind>>, WireError {}
/** What a binding hands to an application. */
export interface BindingData extends Omit<BindAnswer, 'operation' | keyof WireError> {}
export interface FetchedBinding extends Message<typeof answers.fetchBinding>, WireError {}
/** The answer to deprovision and unbind. */
export interface DeleteAnswer extends Pick<BindAnswer, 'operation' | keyof WireError> {}
export interface LastOperation extends Message<typeof answers.lastOperation>, WireError {}
