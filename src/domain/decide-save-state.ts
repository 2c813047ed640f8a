import type { JsonObject } from '../protocol/json.ts'
import type { Snapshot, Verdict } from './change.ts'

interface Saving {
  readonly operationId: string
  readonly fence: number
  /** What the state becomes; may throw. */
  merge(state: JsonObject): JsonObject
}

/**
 * What an observation saves on its way. Binds and unbinds may end beside it and merge into the same state, so it is merged into what is
 * there now, and not into what the observation was given. Answers false where the lease is lost, as every write of a worker.
 */
export function decideSaveState({ instance, operation }: Snapshot, saving: Saving): Verdict<boolean> {
  const isHeld =
    operation?.id === saving.operationId && operation.fence === saving.fence && operation.state === 'running'
  if (instance === undefined || !isHeld) return { answer: false }
  return { answer: true, change: { instance: { ...instance, state: saving.merge(instance.state) } } }
}
