import { randomBytes } from 'node:crypto'
import type { ActionContext, InstanceInfo, StepFunction } from '../../../author/context.ts'
import type { Jsonify } from '../../../author/jsonify.ts'
import type { BindResult, ProvisionResult, UnbindResult } from '../../../author/results.ts'
import type { AuthorAction } from '../../../bundle/actions.ts'
import { type Clock, sleep } from '../../../clock.ts'
import type { EndedRun } from '../../../driver/bundle/attempt.ts'
import { actionsOf, type InstanceContext, testBundle } from '../../../driver/bundle/bundle-driver.ts'
import type { Bundle } from '../../../driver/bundle/parts.ts'
import type { manifestActions } from '../../../driver/manifests/manifests-driver.ts'
import { ShownOutput } from '../../../engine/shown-output.ts'
import { createWait, isWait, type Wait } from '../../../engine/work.ts'
import type { JsonObject } from '../../../protocol/json.ts'
import type { TestResult } from '../../../sandbox.ts'
import { parseDuration } from '../../../shape/duration.ts'

/** What an action is about, and what is known of it. */
export interface DevTask {
  readonly action: AuthorAction
  readonly instance: InstanceInfo
  readonly plan: { readonly id: string; readonly name: string }
  /** The instance's, as the driver keeps it. */
  readonly state: JsonObject
  readonly binding?: { readonly id: string; readonly parameters: JsonObject; readonly state: JsonObject }
  readonly previous?: { readonly planId: string; readonly parameters: JsonObject }
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress: (text: string) => void
  readonly onEnd: (end: DevEnd) => void
}

/** A run of the bundle that has ended: what it printed, what its end means, and what a test has found. */
export interface DevEnd {
  readonly log: string
  readonly verdict: EndedRun['verdict']['kind']
  readonly testResults: readonly TestResult[]
}

/** Who performs the actions: the driver that a broker has. */
export interface DevPerformer {
  readonly actions: ReturnType<typeof actionsOf> | ReturnType<typeof manifestActions>
  test(ctx: InstanceContext): Promise<Result | Wait>
}

export function performerOf(bundle: Bundle): DevPerformer {
  return { actions: actionsOf(bundle), test: ctx => testBundle(bundle, ctx) }
}

type Result = ProvisionResult<JsonObject> & BindResult<JsonObject, JsonObject> & UnbindResult

/** Performs the action with the bundle's driver, the same that a broker has, until it has a result. */
export async function performDev(performer: DevPerformer, task: DevTask): Promise<Result> {
  const { action, instance, binding, previous, signal, onProgress, clock } = task
  let saved: JsonObject = binding === undefined ? task.state : binding.state
  const context = createDevContext(task, patch => {
    saved = { ...saved, ...patch }
  })
  // The state is read whenever it is asked for: an action looks at what it has saved itself.
  const ofInstance = {
    ...context,
    parameters: instance.parameters,
    previous: previous ?? { planId: instance.planId, parameters: instance.parameters },
    get state() {
      return saved
    },
  }
  const ofBinding = {
    ...context,
    parameters: binding?.parameters ?? {},
    binding: { id: binding?.id ?? '', bindResource: {}, context: instance.context },
    state: task.state,
    get bindingState() {
      return saved
    },
  }
  const { actions } = performer
  const perform: Readonly<Record<AuthorAction, () => Promise<Result | Wait>>> = {
    provision: () => actions.provision(ofInstance),
    update: () => actions.update(ofInstance),
    deprovision: () => actions.deprovision(ofInstance),
    bind: () => actions.bind(ofBinding),
    unbind: () => actions.unbind(ofBinding),
    test: () => performer.test(ofInstance),
  }
  while (true) {
    const result = await perform[action]()
    if (!isWait(result)) {
      if (result.message !== undefined) onProgress(result.message)
      return result
    }
    onProgress(result.description)
    await sleep(clock, result.waitFor, signal)
    signal.throwIfAborted()
  }
}

/** An action's context without a ledger: its steps last as long as the process, and what fails is not tried again. */
function createDevContext(
  { action, instance, plan, signal, onProgress, onEnd }: DevTask,
  saveState: (patch: JsonObject) => void,
): ActionContext {
  const id = randomBytes(5).toString('hex')
  const steps = new Map<string, unknown>()
  const call = { signal, fence: 1, key: id }
  return {
    // The author's API knows no tests: they begin as a provision does.
    action: action === 'test' ? 'provision' : action,
    instance,
    plan,
    signal,
    operation: { id, attempt: 1, fence: 1, releases: 0 },
    async step<T>(name: string, fn: StepFunction<T>): Promise<Jsonify<T>> {
      if (!steps.has(name)) {
        const returned: unknown = await fn(call)
        const { output, shown } = returned instanceof ShownOutput ? returned : { output: returned }
        steps.set(name, output)
        if (shown !== undefined) {
          const { verdict, outputs } = output as EndedRun
          // What a short action said was not asked for while it ran.
          if (outputs.progress !== undefined) onProgress(outputs.progress)
          onEnd({ log: String(shown.log), verdict: verdict.kind, testResults: outputs.testResults ?? [] })
        }
      }
      return steps.get(name) as Jsonify<T>
    },
    log: { info: onProgress, warn: onProgress, error: onProgress },
    describe: onProgress,
    wait: (after, description) => createWait(parseDuration(after), description),
    // Bundles keep texts alone.
    saveState: async patch => saveState(patch as JsonObject),
    async share(_key, create) {
      await create(call)
    },
    async unshare(_key, remove) {
      await remove(call)
    },
  }
}
