import type { Operation } from '../domain/operation.ts'
import type { Run } from '../engine/run.ts'
import { createWait, type Wait } from '../engine/work.ts'
import type { Ledger } from '../ledger.ts'
import type { Reads } from '../reads.ts'

const lookAgainAfter = 1_000

interface Waiting {
  readonly run: Pick<Run, 'claim'>
  readonly store: Pick<Ledger, 'accept'> & Pick<Reads, 'listOperations'>
  readonly storeNow: () => number
}

/**
 * A deprovision or an update that was accepted while bindings were being swept begins when none of them is any more; until
 * then it is parked. The ledger's count decides, every time: no lease, no clock and no lost wake-up can let it begin too
 * early. Nothing else can begin on a binding meanwhile, since the operation holds the instance; and each sweep ends.
 */
export async function waitForSweeps({ run, store, storeNow }: Waiting): Promise<Wait | undefined> {
  const { input, instanceId } = run.claim.operation
  if (input.afterSweeps !== true) return undefined
  const swept = await store.accept({ instanceId }, ({ sweptBindings }) => ({ answer: sweptBindings }))
  if (swept === 0) return undefined
  const wait = Math.max(lookAgainAfter, (await lastSweepAt(store, instanceId)) - storeNow())
  return createWait(wait, 'waiting until what its bindings may have left behind is removed')
}

/** When the last of those that have not begun yet will; only a guess of how long to wait. */
async function lastSweepAt(store: Waiting['store'], instanceId: string): Promise<Operation['notBefore']> {
  const { items } = await store.listOperations({ of: { instanceId }, action: 'sweep', state: 'queued' })
  return Math.max(0, ...items.map(({ notBefore }) => notBefore))
}
