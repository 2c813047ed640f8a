import type { ActionContext, StepFunction } from '../../../author/context.ts'
import type { Jsonify } from '../../../author/jsonify.ts'
import { createWait } from '../../../engine/work.ts'
import type { JsonObject } from '../../../protocol/json.ts'
import { parseDuration } from '../../../shape/duration.ts'

export interface DevContextOptions extends Pick<ActionContext, 'action' | 'instance' | 'plan' | 'signal'> {
  readonly operationId: string
  readonly saveState: (patch: JsonObject) => void
  readonly onProgress: (text: string) => void
}

/** An action's context without a ledger: its steps last as long as the process, and what fails is not tried again. */
export function createDevContext(options: DevContextOptions): {
  readonly context: ActionContext
  /** What the steps so far have left. */
  readonly steps: ReadonlyMap<string, unknown>
} {
  const { action, instance, plan, signal, operationId } = options
  const steps = new Map<string, unknown>()
  const call = { signal, fence: 1, key: operationId }
  const context: ActionContext = {
    action,
    instance,
    plan,
    signal,
    operation: { id: operationId, attempt: 1, fence: 1 },
    async step<T>(name: string, fn: StepFunction<T>): Promise<Jsonify<T>> {
      if (!steps.has(name)) steps.set(name, await fn(call))
      return steps.get(name) as Jsonify<T>
    },
    log: { info: options.onProgress, warn: options.onProgress, error: options.onProgress },
    describe: options.onProgress,
    wait: (after, description) => createWait(parseDuration(after), description),
    async saveState(patch) {
      options.saveState(patch)
    },
    async share(_key, create) {
      await create(call)
    },
    async unshare(_key, remove) {
      await remove(call)
    },
  }
  return { context, steps }
}
