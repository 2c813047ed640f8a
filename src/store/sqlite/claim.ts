import type { LeftOut } from '../../domain/left-out.ts'
import { claimed } from '../../domain/operation.ts'
import type { Claim, Claims, Operation } from '../../store.ts'
import { readSteps } from './reads.ts'
import { toBinding, toInstance, toOperation } from './rows.ts'
import { type Calls, listed, type Statements } from './statements.ts'

export interface ClaimRequest {
  readonly owner: string
  readonly max: number
  readonly leaseMs: number
  readonly leftOut?: LeftOut
}

/** Writes operation rows and the counter, nothing else: everything an operation refers to is only read. */
export function claimDue(calls: Calls, { owner, max, leaseMs, leftOut }: ClaimRequest): Claims {
  const { statements, sealer, clock } = calls
  const now = clock.now()
  const most = Math.max(0, max)
  const others = leftOut && listed(leftOut)
  const rows = others === undefined ? statements.due.all(now, most) : statements.dueOthers.all(now, ...others, most)
  const lastFence = takeFences(statements, rows.length)
  const claims = rows.map((row, index): Claim => {
    const before = toOperation(sealer, row)
    const lease = { leaseOwner: owner, leaseUntil: now + leaseMs, fence: lastFence + 1 + index }
    const operation: Operation = { ...claimed(before, now), ...lease }
    writeLease(statements, operation)
    return {
      operation,
      instance: toInstance(sealer, { id: row.instance_id, doc: row.instance_doc, sealed: row.instance_sealed }),
      binding:
        row.binding_doc === null
          ? undefined
          : toBinding(sealer, {
              instance_id: row.instance_id,
              id: row.binding_id,
              doc: row.binding_doc,
              sealed: row.binding_sealed,
            }),
      steps: row.has_steps === 0 ? [] : readSteps(calls, operation.id),
      takenOver: before.state === 'running',
    }
  })
  const next =
    others === undefined ? statements.nextDue.get(lastFence) : statements.nextOfOthers.get(lastFence, ...others)
  return { claims, now, nextAt: next && Number(next.due_at) }
}

/** Answers the fence before the first of those that were taken. */
function takeFences(statements: Statements, count: number): number {
  const row = count === 0 ? statements.lastFence.get() : statements.takeFences.get(count)
  return Number(row?.value) - count
}

function writeLease(statements: Statements, operation: Operation): void {
  const { id, attempt, losses, unclean, leaseOwner = null, leaseUntil = null, fence, checkpointAt = null } = operation
  statements.lease.run(attempt, losses, unclean ? 1 : 0, leaseOwner, leaseUntil, fence, checkpointAt, id)
}
