import { checkDescription, checkFunction, checkName, checkPatch } from '../author/check-arguments.ts'
import { checkStepSettings } from '../author/check-definition.ts'
import type {
  ActionContext,
  BindContext,
  ObserveContext,
  StepFunction,
  StepSettings,
  UnbindContext,
  UpdateContext,
} from '../author/context.ts'
import type { Jsonify } from '../author/jsonify.ts'
import type { ParameterSchema } from '../catalog/parameters.ts'
import type { Binding } from '../domain/binding.ts'
import type { Instance } from '../domain/instance.ts'
import type { OperationInput } from '../domain/operation.ts'
import type { RetryPolicy } from '../domain/retry.ts'
import { TerminalError } from '../engine/errors.ts'
import type { Run, StepOptions } from '../engine/run.ts'
import { createWait, type Wait } from '../engine/work.ts'
import type { Action } from '../protocol/actions.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Reads } from '../reads.ts'
import { readMarked } from '../sensitive/marked.ts'
import type { ReadSettings } from '../settings/settings.ts'
import { type Duration, parseDuration } from '../shape/duration.ts'
import { show } from '../shape/mistake.ts'
import { toBindingInfo, toInstanceInfo } from './context.ts'
import { observedBindings } from './observed-bindings.ts'
import { viewState } from './read-state.ts'
import { type ResolvedService, retryOf, toRetryPolicy } from './resolve-services.ts'

/** Every field that any action's context has; each action is given the type with its own. */
export type AnyContext = ActionContext &
  UpdateContext<JsonObject, JsonObject> &
  BindContext<JsonObject, JsonObject> &
  UnbindContext<JsonObject, JsonObject> &
  ObserveContext<JsonObject, JsonObject>

export interface ContextOptions {
  readonly run: Run
  readonly service: ResolvedService
  readonly settings: ReadSettings
  readonly store: Pick<Reads, 'bindings'>
  /** The action as authors know it: a sweep is shown to them as a deprovision or an unbind. */
  readonly action: Action
  readonly binding?: Binding
  /** Keeps the steps of several unbinds in one deprovision apart. */
  readonly stepPrefix?: string
  readonly predecessorState?: JsonObject
}

/** A context, and what has to be known of its use when the author's code has returned. */
export interface ContextInUse {
  readonly context: AnyContext
  readonly waits: ReadonlySet<unknown>
}

export async function createActionContext(options: ContextOptions): Promise<ContextInUse> {
  const { run, service, settings, action, binding, stepPrefix = '' } = options
  const { operation, instance } = run.claim
  const target = operation.action === 'update' ? withInput(instance, operation.input) : instance
  const plan = service.plans.get(target.planId)?.plan
  const { schemas } = service.plans.get(target.planId) ?? service
  // The service's schema stands in for that of a plan that left the catalog, under which the parameters were accepted.
  const lenient = plan === undefined || lenientActions.has(action)
  const isBinding = action === 'bind' || action === 'unbind'
  const parameters =
    isBinding && binding !== undefined
      ? await parse(schemas.bind, binding.parameters, lenient)
      : await parse(schemas.create, target.parameters, lenient || schemas.updateDerived === false)
  // An unbind inside a deprovision: the operation's state is the instance's, so what it saves lasts for this run only.
  const nested = isBinding && operation.bindingId === undefined
  let nestedState = binding?.state ?? {}
  const ofInstance = operation.bindingId === undefined && !isBinding
  const { code } = service
  // What an earlier attempt of a provision or a bind has saved may be half of a state, which fits no schema.
  const state = await viewState(code, action === 'provision' ? undefined : 'state', {
    current: () => (ofInstance ? run.state : instance.state),
    lenient: lenientActions.has(action),
  })
  const bindingState = await viewState(code, action === 'unbind' ? 'bindingState' : undefined, {
    current: () => (nested ? nestedState : run.state),
    lenient: true,
  })
  const waits = new Set<Wait>()
  const context = Object.assign(new LiveFields(run, state, bindingState), {
    action,
    instance: toInstanceInfo(target),
    plan: { id: target.planId, name: plan?.name ?? target.planId, metadata: plan?.metadata },
    operation: {
      id: operation.id,
      attempt: operation.attempt,
      fence: operation.fence,
      releases: operation.released?.times ?? 0,
      traceparent: run.traceparent,
    },
    identity: operation.identity,
    log: {
      info: (message, fields) => run.log('info', message, fields),
      warn: (message, fields) => run.log('warn', message, fields),
      error: (message, fields) => run.log('error', message, fields),
    },
    parameters,
    binding: binding && toBindingInfo(binding),
    predecessorState: readMarked(options.predecessorState),
    previous: {
      planId: instance.planId,
      parameters: instance.parameters,
      maintenanceVersion: instance.maintenanceVersion,
    },
    step<T>(name: string, fn: StepFunction<T>, step?: StepSettings) {
      checkFunction(fn, `ctx.step('${checkName(name, 'ctx.step')}', fn)`)
      const options =
        step === undefined ? undefined : readStepSettings(name, step, retryOf(service, operation.action, settings))
      return run.step<unknown>(stepPrefix + name, fn, options) as Promise<Jsonify<T>>
    },
    describe: text => run.describe(checkDescription(text, 'ctx.describe')),
    wait(after, description) {
      const wait = createWait(readDuration(after), checkDescription(description, 'ctx.wait'))
      waits.add(wait)
      return wait
    },
    async saveState(given) {
      const patch = checkPatch(given)
      if (nested) nestedState = { ...nestedState, ...patch }
      else await run.saveState(patch)
      if (ofInstance) state.merge(patch)
      else bindingState.merge(patch)
    },
    // Of no other action: nothing keeps their bindings as they are.
    bindings: action === 'observe' ? () => observedBindings(options) : undefined,
    share(key, create) {
      checkFunction(create, `ctx.share('${checkName(key, 'ctx.share')}', create)`)
      return run.share(key, create)
    },
    unshare(key, remove) {
      checkFunction(remove, `ctx.unshare('${checkName(key, 'ctx.unshare')}', remove)`)
      return run.unshare(key, remove)
    },
  } satisfies { readonly [Name in keyof AnyContext]?: AnyContext[Name] | undefined })
  return { context: context as AnyContext, waits }
}

type StateView = Awaited<ReturnType<typeof viewState>>

/** What is read anew each time. A class: Node.js takes long to make an object that has getters of its own. */
class LiveFields implements Pick<AnyContext, 'signal' | 'state' | 'bindingState'> {
  readonly #run: Run
  readonly #state: StateView
  readonly #bindingState: StateView

  constructor(run: Run, state: StateView, bindingState: StateView) {
    this.#run = run
    this.#state = state
    this.#bindingState = bindingState
  }

  get signal() {
    return this.#run.signal
  }

  get state() {
    return this.#state.value()
  }

  get bindingState() {
    return this.#bindingState.value()
  }
}

/** These work with whatever an older release has left behind. */
const lenientActions: ReadonlySet<Action> = new Set(['deprovision', 'unbind', 'observe', 'sweep'])

function withInput(instance: Instance, input: OperationInput): Instance {
  return {
    ...instance,
    planId: input.planId ?? instance.planId,
    parameters: input.parameters ?? instance.parameters,
    context: input.context ?? instance.context,
    maintenanceVersion: input.maintenanceVersion,
  }
}

function readStepSettings(name: string, step: StepSettings, fallback: RetryPolicy): StepOptions {
  const wrong = checkStepSettings(step)
  if (wrong.length > 0) throw new TerminalError(`The settings of ctx.step('${name}') are wrong: ${wrong.join('; ')}`)
  const { retry, timeout } = step
  return { retry: retry && toRetryPolicy(retry, fallback), timeout: timeout && parseDuration(timeout) }
}

/** What is stored was valid when it was accepted; a schema that has changed since must not keep a deletion from working. */
async function parse(
  schema: ParameterSchema<unknown> | undefined,
  stored: JsonObject,
  lenient: boolean,
): Promise<JsonObject> {
  if (schema === undefined) return stored
  try {
    return (await schema.parse(stored)) as JsonObject
  } catch (cause) {
    if (lenient) return stored
    throw new TerminalError('The stored parameters no longer fit the schema of the service.', { cause })
  }
}

function readDuration(after: Duration): number {
  try {
    return parseDuration(after)
  } catch (cause) {
    const wanted = `ctx.wait needs durations such as '10s', '5m' or 500 (milliseconds)`
    throw new TerminalError(`${wanted}, not ${show(after)}.`, { cause })
  }
}
