import type { FinalState } from '../../domain/operation.ts'
import type { ChoreRun } from '../../engine/chore-run.ts'
import type { CleanUp, Upkeep } from '../../upkeep.ts'
import { removeInBatches } from './remove-in-batches.ts'

export type CleanUpKind = 'all' | 'succeeded' | 'failed'

/** What each kind removes. An operation that a deletion took over from is neither a success nor a failure of its own. */
const statesOf: Readonly<Record<CleanUpKind, readonly FinalState[]>> = {
  all: ['succeeded', 'failed', 'superseded'],
  succeeded: ['succeeded'],
  failed: ['failed'],
}

/** Removes operations that ended at least `age` ago, with their steps. What may never go, the ledger knows. */
export async function cleanUpOperations(
  store: Upkeep,
  run: ChoreRun,
  { of, kind, age }: { readonly of: CleanUp['of']; readonly kind: CleanUpKind; readonly age: number },
): Promise<string | undefined> {
  const before = run.now() - age
  const remove = (max: number) => store.cleanUp({ of, states: statesOf[kind], before, max })
  return removeInBatches(run, remove, ['operation', 'operations'])
}
