import type { InferParameters, ParameterSource } from '../catalog/parameters.ts'
import type { AsyncMode } from '../domain/intent.ts'
import type { Wait } from '../engine/work.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Offering, Plan } from '../protocol/offering.ts'
import type { Duration } from '../shape/duration.ts'
import type {
  BindContext,
  DeprovisionContext,
  InstanceInfo,
  ObserveContext,
  ProvisionContext,
  RetrySettings,
  UnbindContext,
  UpdateContext,
} from './context.ts'
import type { BindResult, ObserveResult, ProvisionResult, UnbindResult } from './results.ts'

export interface ActionSettings {
  /** auto: asynchronous where the platform allows it; always: 422 AsyncRequired without; never: the request waits. */
  readonly async?: AsyncMode
  /** How long the operation may take; never longer than the plan's maximumPollingDuration. */
  readonly timeout?: Duration
  readonly retry?: RetrySettings
}

type Settable = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'
type Awaitable<T> = T | Promise<T>
/** An action may return nothing at all. */
// biome-ignore lint/suspicious/noConfusingVoidType: an action without a return statement has the type void
type Nothing = undefined | void

/** Parameters of a service without a schema are whatever the user sent. */
export type Parameters<S> = [S] extends [undefined] ? JsonObject : InferParameters<S>

/**
 * One service of a broker. `id` and the actions are code; what the catalog shows (name, plans …) may stand here or in a
 * YAML catalog that has the same id. The types of `ctx.parameters` come from the schemas, that of `ctx.state` from what
 * `provision` returns: so `provision` stands before the actions that use it.
 */
export interface ServiceDefinition<
  P extends ParameterSource | undefined,
  B extends ParameterSource | undefined,
  State extends object,
  BindingState extends object,
  Credentials extends object,
> extends Partial<Omit<Offering, 'id' | 'plans'>> {
  readonly id: string
  readonly plans?: readonly Plan[]
  /** Of a provision. Zod or another Standard Schema, or JSON Schema: advertised, validated, and the type of `ctx.parameters`. */
  readonly parameters?: P
  /** Of an update; without it, the fields of `parameters`, none of them required. */
  readonly updateParameters?: ParameterSource
  readonly bindParameters?: B

  provision(ctx: ProvisionContext<Parameters<P>>): Awaitable<ProvisionResult<State> | Wait | Nothing>
  update?(
    ctx: UpdateContext<Parameters<P>, NoInfer<State>>,
  ): Awaitable<ProvisionResult<NoInfer<State>> | Wait | Nothing>
  deprovision(ctx: DeprovisionContext<Parameters<P>, NoInfer<State>>): Awaitable<Wait | Nothing>
  bind?(
    ctx: BindContext<Parameters<B>, NoInfer<State>>,
  ): Awaitable<BindResult<Credentials, BindingState> | Wait | Nothing>
  unbind?(ctx: UnbindContext<NoInfer<State>, NoInfer<BindingState>>): Awaitable<UnbindResult | Wait | Nothing>
  /** Looks at the instance on a schedule, and may heal it. */
  observe?(ctx: ObserveContext<Parameters<P>, NoInfer<State>>): Awaitable<ObserveResult>

  readonly actions?: Partial<Record<Settable, ActionSettings>>
  /** The longest that one call of a step may take. */
  readonly callTimeout?: Duration
  /** Time between two observations. */
  readonly observeEvery?: Duration
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

/** A service with the types of its author erased: what the broker runs. */
export type Service = ServiceDefinition<
  ParameterSource | undefined,
  ParameterSource | undefined,
  object,
  object,
  object
>

export function defineService<
  const P extends ParameterSource | undefined = undefined,
  const B extends ParameterSource | undefined = undefined,
  State extends object = Record<never, never>,
  BindingState extends object = Record<never, never>,
  Credentials extends object = JsonObject,
>(definition: ServiceDefinition<P, B, State, BindingState, Credentials>): Service {
  return definition as unknown as Service
}
