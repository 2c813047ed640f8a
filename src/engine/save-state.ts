import { decideSaveState } from '../domain/decide-save-state.ts'
import type { Operation } from '../domain/operation.ts'
import type { Lease, Ledger } from '../ledger.ts'
import type { JsonObject } from '../protocol/json.ts'

interface Saving {
  readonly operation: Operation
  readonly lease: Lease
  /** The state as the operation knows it, with what it saves. */
  readonly state: JsonObject
  /** The same of any state. */
  merge(state: JsonObject): JsonObject
}

/** Nothing else writes the state while its operation runs, unless that is an observation. Answers false where the lease is lost. */
export function saveState(store: Ledger, { operation, lease, state, merge }: Saving): Promise<boolean> {
  const { action, instanceId } = operation
  if (action !== 'observe') return store.checkpoint(lease, { state })
  return store.accept({ instanceId }, snapshot => decideSaveState(snapshot, { ...lease, merge }))
}
