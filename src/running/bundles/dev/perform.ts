import { randomBytes } from 'node:crypto'
import type { InstanceInfo } from '../../../author/context.ts'
import type { BindResult, ProvisionResult, UnbindResult } from '../../../author/results.ts'
import type { BundleAction } from '../../../bundle/actions.ts'
import { type Clock, sleep } from '../../../clock.ts'
import { bind, deprovision, provision, unbind, update } from '../../../driver/bundle/actions.ts'
import type { Bundle } from '../../../driver/bundle/parts.ts'
import { isWait, type Wait } from '../../../engine/work.ts'
import { isJsonObject, type JsonObject } from '../../../protocol/json.ts'
import { createDevContext } from './context.ts'

/** What an action is about, and what is known of it. */
export interface DevTask {
  readonly action: BundleAction
  readonly instance: InstanceInfo
  readonly plan: { readonly id: string; readonly name: string }
  /** The instance's, as the driver keeps it. */
  readonly state: JsonObject
  readonly binding?: { readonly id: string; readonly parameters: JsonObject; readonly state: JsonObject }
  readonly previous?: { readonly planId: string; readonly parameters: JsonObject }
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress: (text: string) => void
  /** Called when a run of the bundle has ended: with what it printed, and what its end means. */
  readonly onEnd: (end: { readonly log: string; readonly verdict: string }) => void
}

type Result = ProvisionResult<JsonObject> & BindResult<JsonObject, JsonObject> & UnbindResult

/** Performs the action with the bundle's driver, the same that a broker has, until it has a result. */
export async function performDev(bundle: Bundle, task: DevTask): Promise<Result> {
  const { action, instance, plan, signal, onProgress, clock } = task
  let saved: JsonObject = task.binding === undefined ? task.state : task.binding.state
  const { context, steps } = createDevContext({
    action,
    instance,
    plan,
    signal,
    onProgress,
    operationId: randomBytes(5).toString('hex'),
    saveState(patch) {
      saved = { ...saved, ...patch }
    },
  })
  const state = () => (task.binding === undefined ? saved : task.state)
  const act = () => perform(bundle, { ...task, context, state, bindingState: () => saved })
  const told = new Set<string>()
  const tellEnds = () => {
    for (const [name, output] of steps) {
      if (!/^collect /.test(name) || told.has(name) || !isJsonObject(output)) continue
      told.add(name)
      const { log, verdict } = output
      task.onEnd({ log: String(log), verdict: isJsonObject(verdict) ? String(verdict.kind) : '' })
    }
  }
  try {
    while (true) {
      const result = await act()
      tellEnds()
      if (!isWait(result)) return result ?? {}
      onProgress(result.description)
      await sleep(clock, result.waitFor, signal)
      signal.throwIfAborted()
    }
  } finally {
    tellEnds()
  }
}

interface Performing extends Omit<DevTask, 'state'> {
  readonly context: ReturnType<typeof createDevContext>['context']
  readonly state: () => JsonObject
  readonly bindingState: () => JsonObject
}

/** The state is read whenever it is asked for: an action looks at what it has saved itself. */
function perform(bundle: Bundle, performing: Performing): Promise<Result | Wait | undefined> {
  const { action, context, instance, binding, previous } = performing
  const ofInstance = {
    ...context,
    parameters: instance.parameters,
    previous: previous ?? { planId: instance.planId, parameters: instance.parameters },
    get state() {
      return performing.state()
    },
  }
  const ofBinding = {
    ...context,
    parameters: binding?.parameters ?? {},
    binding: { id: binding?.id ?? '', bindResource: {}, context: instance.context },
    state: performing.state(),
    get bindingState() {
      return performing.bindingState()
    },
  }
  switch (action) {
    case 'provision':
      return provision(bundle, ofInstance)
    case 'update':
      return update(bundle, ofInstance)
    case 'deprovision':
      return deprovision(bundle, ofInstance)
    case 'bind':
      return bind(bundle, ofBinding)
    case 'unbind':
      return unbind(bundle, ofBinding)
  }
}
