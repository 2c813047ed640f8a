import type { Change, Finishing, Lease, Snapshot, Target, Verdict } from '../../store.ts'
import { applyChange } from './change.ts'
import { type Database, transact } from './database.ts'
import { keyOf } from './keys.ts'
import { heldBy } from './progress.ts'
import { requireQuota } from './quota.ts'
import { type ReadingTarget, readSnapshot } from './snapshot.ts'

/** Answers also what was written. */
export function accept<Answer>(
  ledger: Database,
  { instanceId, bindingId, predecessorId }: Target,
  decide: (snapshot: Snapshot) => Verdict<Answer>,
): Promise<Verdict<Answer>> {
  const predecessor = predecessorId === undefined ? undefined : { id: predecessorId }
  return ledger.turns.take(`instance ${instanceId}`, () =>
    transact(ledger, async tx => {
      const reading = await readSnapshot(tx, { instanceId, bindingId, predecessor })
      const verdict = decide(reading.snapshot)
      if (verdict.change?.within !== undefined) await requireQuota(tx, verdict.change.within)
      if (verdict.change !== undefined) await applyChange(tx, reading, verdict.change)
      return verdict
    }),
  )
}

/** Answers what was written, or undefined where the lease is lost. */
export function finish(
  ledger: Database,
  lease: Lease,
  decide: (snapshot: Finishing) => Change,
): Promise<Change | undefined> {
  const { turns, collections } = ledger
  return turns.take(`operation ${lease.operationId}`, async () => {
    const held = heldBy(keyOf(lease.operationId), lease.fence)
    const known = await collections.operation.findOne(held, { projection: { doc: 1 } })
    if (known === null) return undefined
    const { instanceId, bindingId } = JSON.parse(known.doc)
    const place: ReadingTarget = { instanceId, bindingId, predecessor: bindingId === undefined ? undefined : 'its own' }
    return turns.take(`instance ${instanceId}`, () =>
      transact(ledger, async tx => {
        const reading = await readSnapshot(tx, place)
        const finishing = reading.operations.find(
          ({ id, fence, state }) => id === lease.operationId && fence === lease.fence && state === 'running',
        )
        if (finishing === undefined) return undefined
        const change = decide({ ...reading.snapshot, finishing })
        await applyChange(tx, reading, change)
        return change
      }),
    )
  })
}
