import type { InferInput, InferParameters, ParameterSource } from '../catalog/parameters.ts'
import type { AsyncMode } from '../domain/intent.ts'
import type { Wait } from '../engine/work.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Offering, Plan } from '../protocol/offering.ts'
import type { Duration } from '../shape/duration.ts'
import type { BackendList, ListContext } from './backend.ts'
import type {
  BindContext,
  DeprovisionContext,
  InstanceInfo,
  ObserveContext,
  PlanOf,
  ProvisionContext,
  RetrySettings,
  UnbindContext,
  UpdateContext,
} from './context.ts'
import type { Again, Jsonify, Storable } from './jsonify.ts'
import type { AnyResult, BindResult, ObserveResult, ProvisionResult, UnbindResult } from './results.ts'

export interface ActionSettings {
  /** auto: asynchronous where the platform allows it; always: 422 AsyncRequired without; never: the request waits. */
  readonly async?: AsyncMode
  /** How long the operation may take; never longer than the plan's maximumPollingDuration. */
  readonly timeout?: Duration
  readonly retry?: RetrySettings
}

export interface BindingSettings {
  /** A binding expires so long after it was made, unless its bind returns `metadata.expiresAt`. */
  readonly lifetime?: Duration
  /** So long before it expires, it should be rotated, unless its bind returns `metadata.renewBefore`. */
  readonly renewBefore?: Duration
  /** The broker unbinds what has expired. Without it, `bindings.unbindExpired` of the settings says so. */
  readonly unbindExpired?: boolean
}

type Settable = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'
type Awaitable<T> = T | Promise<T>
/** An action may return nothing at all. */
// biome-ignore lint/suspicious/noConfusingVoidType: an action without a return statement has the type void
type Nothing = undefined | void

/** Whether there is no schema, or one that nothing is known of. */
type IsOpen<S> = [S] extends [undefined] ? true : ParameterSource extends S ? true : false

/** Parameters of a service without a schema are whatever the user sent. */
export type ParametersOf<S> = IsOpen<S> extends true ? JsonObject : InferParameters<S>

/** What actions find as `ctx.state`: what the schema makes of the ledger's JSON, else the JSON of what was returned. */
export type StateOf<S, Returned> = IsOpen<S> extends true ? Jsonify<Returned> : InferParameters<S>

/** What actions may return as `state`. */
type Accepted<S, Returned> = IsOpen<S> extends true ? Storable<Returned> : InferInput<S>
type AcceptedAgain<S, Returned> = IsOpen<S> extends true ? Again<Returned> : InferInput<S>

/**
 * One service of a broker. `id` and the actions are code; what the catalog shows (name, plans …) may stand here or in a
 * YAML catalog that has the same id. The types of `ctx.parameters` come from the schemas. That of `ctx.state` comes from
 * `state`; without it, from what `provision` returns, which has to stand before the actions that use it then.
 */
export interface ServiceDefinition<
  P extends ParameterSource | undefined,
  B extends ParameterSource | undefined,
  S extends ParameterSource | undefined,
  BS extends ParameterSource | undefined,
  Plans extends readonly Plan[],
  State extends object,
  BindingState extends object,
  Credentials extends object,
> extends Partial<Omit<Offering, 'id' | 'plans'>> {
  readonly id: string
  readonly plans?: Plans
  /** Of a provision. Zod or another Standard Schema, or JSON Schema: advertised, validated, and the type of `ctx.parameters`. */
  readonly parameters?: P
  /** Of an update; without it, the fields of `parameters`, none of them required. */
  readonly updateParameters?: ParameterSource
  readonly bindParameters?: B
  /** A schema of the state: checked when it is returned and when it comes back, and the type of `ctx.state`. */
  readonly state?: S
  /** Makes a state that fits the schema from one that does not, which an older release of the service has left. */
  upgradeState?(old: JsonObject): Awaitable<InferInput<S>>
  /** The same for the state of bindings. */
  readonly bindingState?: BS
  upgradeBindingState?(old: JsonObject): Awaitable<InferInput<BS>>

  provision(
    ctx: ProvisionContext<ParametersOf<P>, PlanOf<Plans>>,
  ): Awaitable<ProvisionResult<State & Accepted<S, State>> | Wait | Nothing>
  update?(
    ctx: UpdateContext<ParametersOf<P>, StateOf<S, NoInfer<State>>, PlanOf<Plans>>,
  ): Awaitable<ProvisionResult<AcceptedAgain<S, NoInfer<State>>> | Wait | Nothing>
  deprovision(
    ctx: DeprovisionContext<ParametersOf<P>, StateOf<S, NoInfer<State>>>,
  ): Awaitable<AnyResult | Wait | Nothing>
  bind?(
    ctx: BindContext<ParametersOf<B>, StateOf<S, NoInfer<State>>, PlanOf<Plans>>,
  ): Awaitable<
    BindResult<Credentials & Storable<Credentials>, BindingState & Accepted<BS, BindingState>> | Wait | Nothing
  >
  unbind?(
    ctx: UnbindContext<StateOf<S, NoInfer<State>>, StateOf<BS, NoInfer<BindingState>>>,
  ): Awaitable<UnbindResult | Wait | Nothing>
  /** Looks at the instance on a schedule, and may heal it. */
  observe?(
    ctx: ObserveContext<ParametersOf<P>, StateOf<S, NoInfer<State>>, StateOf<BS, NoInfer<BindingState>>>,
  ): Awaitable<ObserveResult>

  /**
   * Everything of this service that its backend holds, so that it can be compared with the ledger. What belongs to nobody is
   * removed, where an operator asks for that, by `deprovision` or `unbind`, with what the item has as its `state`.
   */
  list?(ctx: ListContext): BackendList
  /** An instance may have nothing of its own in the backend: one that `list` does not name is not missing there. */
  readonly emptyInstances?: boolean

  readonly actions?: Partial<Record<Settable, ActionSettings>>
  /** The longest that one call of a step may take. */
  readonly callTimeout?: Duration
  /** Time between two observations. */
  readonly observeEvery?: Duration
  /** The most of its operations that one process runs at a time. Without it, `engine.perService` says so. */
  readonly concurrency?: number
  /**
   * An operation that has used up its retries is held for an operator instead of failing: in progress for the platform, until
   * somebody decides or its time is up. Without it, `engine.hold` says so.
   */
  readonly hold?: boolean
  /** How long bindings last, where the `bind` itself does not say it, and what becomes of them then. */
  readonly bindings?: BindingSettings
  /** A binding needs an application: refused with RequiresApp where the platform names none. */
  readonly requiresApp?: boolean
  /**
   * Platforms want the URL of the dashboard with the first answer. A function names it before the action runs.
   * `redirect`: the first answer has a URL of this broker, which leads to the `dashboardUrl` that the action returns later.
   */
  readonly dashboard?: 'redirect' | ((instance: InstanceInfo) => string)
  /** Takes over GET of an instance: what it returns replaces what the broker would have answered. */
  fetchInstance?(fetched: FetchedInstance): Awaitable<JsonObject>
  /** Takes over GET of a binding. */
  fetchBinding?(fetched: FetchedBinding): Awaitable<JsonObject>
}

export interface FetchedInstance {
  readonly instance: InstanceInfo
  readonly state: JsonObject
  /** The wire body that would be sent. */
  readonly body: JsonObject
}

export interface FetchedBinding extends FetchedInstance {
  readonly bindingId: string
  readonly bindingState: JsonObject
}

type Schemas = 'parameters' | 'bindParameters' | 'state' | 'bindingState'

/** A service with the types of its author erased: what the broker runs. */
export interface Service
  extends Omit<
      ServiceDefinition<
        undefined,
        undefined,
        undefined,
        undefined,
        readonly Plan[],
        JsonObject,
        JsonObject,
        JsonObject
      >,
      Schemas
    >,
    Readonly<Partial<Record<Schemas, ParameterSource>>> {}

export function defineService<
  const P extends ParameterSource | undefined = undefined,
  const B extends ParameterSource | undefined = undefined,
  const S extends ParameterSource | undefined = undefined,
  const BS extends ParameterSource | undefined = undefined,
  const Plans extends readonly Plan[] = readonly Plan[],
  State extends object = Record<never, never>,
  BindingState extends object = Record<never, never>,
  Credentials extends object = JsonObject,
>(definition: ServiceDefinition<P, B, S, BS, Plans, State, BindingState, Credentials>): Service {
  return definition as unknown as Service
}
