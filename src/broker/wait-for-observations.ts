import type { Run } from '../engine/run.ts'
import { createWait, type Wait } from '../engine/work.ts'
import type { Ledger } from '../ledger.ts'
import type { Reads } from '../reads.ts'

const lookAgainAfter = 1_000

interface Waiting {
  readonly run: Pick<Run, 'claim'>
  readonly store: Pick<Ledger, 'accept'> & Pick<Reads, 'operation'>
}

/**
 * An observation that an unbind took over from may still be at work on the instance and on its other bindings. What deletes one of
 * them, or changes the instance, or looks at it again, begins when that one has handed its lease back or the lease is over: by the
 * ledger's clock. A bind need not wait: its binding was not there to be looked at.
 */
export async function waitForObservations({ run, store }: Waiting): Promise<Wait | undefined> {
  const { operation, instance } = run.claim
  const { drains = [] } = instance
  if (drains.length === 0 || operation.action === 'bind') return undefined
  const now = await store.accept({ instanceId: instance.id }, snapshot => ({ answer: snapshot.now }))
  for (const { operationId, until } of drains) {
    if (until <= now) continue
    const { leaseUntil = now } = (await store.operation(operationId)) ?? {}
    if (leaseUntil > now) return createWait(lookAgainAfter, 'waiting until an observation has stopped')
  }
  return undefined
}
