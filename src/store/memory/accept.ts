import { dueAtOnce, leased } from '../../domain/first-lease.ts'
import type { Change, Finishing, Lease, Operation, Snapshot, Taker, Target, Verdict, WakeUp } from '../../store.ts'
import { wakeUpsOf } from '../wake-ups.ts'
import { readClaim } from './claim.ts'
import { writeNotes } from './notes.ts'
import { requireQuota } from './quota.ts'
import type { Tables } from './tables.ts'

/** Wake-ups are sent when the transaction has ended. */
export interface Deciding {
  readonly tables: Tables
  readonly now: number
  readonly wake: WakeUp[]
}

export function accept<Answer>(
  deciding: Deciding,
  target: Target,
  decide: (snapshot: Snapshot) => Verdict<Answer>,
  taker?: Taker,
): Answer {
  const { tables, now } = deciding
  const { answer, change } = decide(snapshotOf(deciding, target))
  if (change === undefined) return answer
  if (change.within !== undefined) requireQuota(tables, change.within)
  const due = taker && dueAtOnce(change, now)
  if (taker === undefined || due === undefined || !taker.wants(due)) {
    apply(deciding, change)
    return answer
  }
  const lease = { leaseOwner: taker.owner, leaseUntil: now + taker.leaseTime, fence: tables.nextFence() }
  apply(deciding, leased(change, due, lease, now))
  taker.taken(readClaim(tables, due.id, false), now)
  return answer
}

export function finish(deciding: Deciding, lease: Lease, decide: (snapshot: Finishing) => Change): boolean {
  const { tables } = deciding
  const finishing = tables.heldOperation(lease)
  if (finishing === undefined) return false
  apply(deciding, decide({ ...snapshotOf(deciding, targetOf(tables, finishing)), finishing }))
  return true
}

function snapshotOf({ tables, now }: Deciding, { instanceId, bindingId, predecessorId }: Target): Snapshot {
  const live = tables.bindings.allOf(instanceId).filter(({ phase }) => phase !== 'failed' && phase !== 'deleted')
  const busy = tables.busyBindings(instanceId)
  return {
    now,
    instance: tables.instances.get(instanceId),
    operation: tables.activeOperation(instanceId),
    binding: bindingId === undefined ? undefined : tables.binding(instanceId, bindingId),
    bindingOperation: bindingId === undefined ? undefined : tables.activeOperation(instanceId, bindingId),
    predecessor: predecessorId === undefined ? undefined : tables.binding(instanceId, predecessorId),
    liveBindings: live.length,
    busyBindings: busy.filter(({ action }) => action !== 'sweep').length,
    sweptBindings: busy.filter(({ action }) => action === 'sweep').length,
  }
}

function targetOf(tables: Tables, { instanceId, bindingId }: Operation): Target {
  if (bindingId === undefined) return { instanceId }
  return { instanceId, bindingId, predecessorId: tables.binding(instanceId, bindingId)?.predecessorId }
}

function apply({ tables, wake }: Deciding, change: Change): void {
  if (change.notes !== undefined) writeNotes(tables, change.notes)
  tables.apply(change)
  wake.push(...wakeUpsOf(change))
}
