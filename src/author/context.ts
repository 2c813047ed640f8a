import type { Call } from '../engine/call.ts'
import type { Wait } from '../engine/work.ts'
import type { LogFields } from '../events.ts'
import type { Action } from '../protocol/actions.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Plan } from '../protocol/offering.ts'
import type { Sensitive } from '../sensitive/sensitive.ts'
import type { Duration } from '../shape/duration.ts'
import type { Jsonify, Storable } from './jsonify.ts'

export interface InstanceInfo {
  readonly id: string
  readonly serviceId: string
  readonly planId: string
  readonly platform: string
  /** The platform's context: organization, space, namespace, names. Every key may be absent. */
  readonly context: JsonObject
  /** What the user asked for when the instance was created or updated last, defaults applied. */
  readonly parameters: JsonObject
  readonly maintenanceVersion?: string
}

export interface BindingInfo {
  readonly id: string
  readonly appGuid?: string
  readonly bindResource: JsonObject
  readonly context: JsonObject
  /** Set when this binding rotates another one, whose credentials stay valid beside it. */
  readonly predecessorId?: string
}

export interface StepSettings {
  readonly retry?: RetrySettings
  /** At most the service's `callTimeout`. */
  readonly timeout?: Duration
}

/** How often and how long a failed step or action is tried again. Delays are random below an exponential ceiling. */
export interface RetrySettings {
  readonly initial?: Duration
  readonly factor?: number
  readonly max?: Duration
  /** Attempts in all. */
  readonly attempts?: number
  /** Time in all. */
  readonly for?: Duration
}

/**
 * Without the secrets that the broker knows of: every `Sensitive`, parameters that their schema marks, and credentials of the
 * binding, wherever they stand in the message and the fields.
 */
export interface AuthorLog {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** JSON, with a `Sensitive` wherever a value is a secret. */
export type StatePatch = { readonly [key: string]: StateValue | undefined }
export type StateValue = Json | Sensitive<Json> | readonly StateValue[] | StatePatch

export interface PlanInfo {
  readonly id: string
  readonly name: string
  readonly metadata?: JsonObject
}

/** One of the plans, with the id and the name as they stand in the code. */
export type PlanOf<Plans extends readonly Plan[]> = {
  [Index in keyof Plans]: Omit<PlanInfo, 'id' | 'name'> & Pick<Plans[Index], 'id' | 'name'>
}[number]

/** What every action gets. The action runs again from its top after a crash, a wait or a failed step. */
export interface ActionContext {
  readonly action: Action
  readonly instance: InstanceInfo
  /** Where the plan has left the catalog, its name is its id, whatever the type says. */
  readonly plan: PlanInfo
  readonly operation: {
    readonly id: string
    readonly attempt: number
    readonly fence: number
    /** How often an operator has released it after it was held. */
    readonly releases: number
    /** The W3C trace context of this run, for what it calls; where there is one. */
    readonly traceparent?: string
  }
  /** On whose behalf, as the platform said it; absent for its own clean-up. Personal data. */
  readonly identity?: JsonObject
  /** Aborted when this run is over: the action has returned, a step failed, the operation is superseded or out of time. */
  readonly signal: AbortSignal
  /** Writes to the broker's log, with the operation and the step that it is called in. */
  readonly log: AuthorLog
  /**
   * Runs `fn` until it has succeeded once. Its output is kept as JSON, and given back whenever the action runs again: what
   * comes back is what JSON makes of it, at the first time too.
   */
  step<T>(name: string, fn: StepFunction<T>, settings?: StepSettings): Promise<Jsonify<T>>
  /** The text that users see while they wait. */
  describe(text: string): void
  /** `return ctx.wait('10s', 'database is starting')`: frees the worker and runs the action again later. */
  wait(after: Duration, description: string): Wait
  /** Merges into the state at once, so that a deprovision after a failure knows it too. */
  saveState(patch: StatePatch): Promise<void>
  /** Claims something that several instances need; `create` runs for the first of them only. */
  share(key: string, create: (call: Call) => unknown): Promise<void>
  /** Gives the claim back; `remove` runs for the last of them only. */
  unshare(key: string, remove: (call: Call) => unknown): Promise<void>
}

/** What a step runs. Its output must be JSON: the compiler says where it is not. */
export type StepFunction<T> = ((call: Call) => T | Promise<T>) & ((call: Call) => Storable<T> | Promise<Storable<T>>)

export interface ProvisionContext<Params, Plan extends PlanInfo = PlanInfo> extends ActionContext {
  readonly plan: Plan
  readonly parameters: Params
  /** What an earlier attempt that failed has saved. */
  readonly state: JsonObject
}

export interface UpdateContext<Params, State, Plan extends PlanInfo = PlanInfo> extends ActionContext {
  /** The one that it changes to. */
  readonly plan: Plan
  /** As they will be when the update has succeeded. */
  readonly parameters: Params
  readonly state: State
  readonly previous: { readonly planId: string; readonly parameters: JsonObject; readonly maintenanceVersion?: string }
}

export interface DeprovisionContext<Params, State> extends ActionContext {
  readonly parameters: Params
  /** Partial: a creation that failed half-way has saved only part of it. */
  readonly state: Partial<State>
}

export interface BindContext<BindParams, State, Plan extends PlanInfo = PlanInfo> extends ActionContext {
  readonly plan: Plan
  readonly parameters: BindParams
  readonly binding: BindingInfo
  /** The instance's state. */
  readonly state: State
  /** What an earlier attempt at this binding that failed has saved. */
  readonly bindingState: JsonObject
  /** The state of the binding that is rotated. */
  readonly predecessorState?: JsonObject
}

export interface UnbindContext<State, BindingState> extends ActionContext {
  readonly binding: BindingInfo
  readonly state: State
  /** Partial: a bind that failed half-way has saved only part of it. */
  readonly bindingState: Partial<BindingState>
}

export interface ObserveContext<Params, State, BindingState = JsonObject> extends ActionContext {
  readonly parameters: Params
  /** Partial: an instance whose creation failed is observed too, since it may heal. */
  readonly state: Partial<State>
  /**
   * The bindings that are ready and that nothing is at work on. An unbind of one of them takes over from the observation: what a step
   * makes for a binding stays no longer than that.
   */
  bindings(): Promise<readonly ObservedBinding<BindingState>[]>
}

/** A binding, as its bind has left it. */
export interface ObservedBinding<BindingState> {
  readonly binding: BindingInfo
  /** Those of the bind. */
  readonly parameters: JsonObject
  readonly bindingState: Partial<BindingState>
}
