import { decideShared, type SharedResource, type SharedVerdict, type SharedWish } from '../../domain/shared-claim.ts'
import type { Lease } from '../../store.ts'
import { toShared } from '../columns.ts'
import { toOperation } from './rows.ts'
import type { Calls, Statements } from './statements.ts'

export function share(
  { statements, sealer, clock }: Calls,
  { operationId, fence }: Lease,
  key: string,
  wish: SharedWish,
): SharedVerdict['answer'] | undefined {
  const held = statements.heldOperation.get(operationId, fence)
  if (held === undefined) return undefined
  const { instanceId } = toOperation(sealer, held)
  const row = toShared(key, statements.shared.get(key))
  const verdict = decideShared(wish, {
    row,
    operationId,
    otherClaims: Number(statements.otherClaims.get(key, instanceId)?.count),
    holderAlive: isAlive(statements, row.holder, operationId, clock.now()),
  })
  writeShared(statements, verdict.row)
  if (verdict.claim === true) statements.putClaim.run(key, instanceId)
  if (verdict.claim === false) statements.removeClaim.run(key, instanceId)
  return verdict.answer
}

function writeShared(statements: Statements, { key, phase, holder }: SharedResource): void {
  if (phase === 'absent') statements.removeShared.run(key)
  else statements.putShared.run(key, phase, holder ?? null)
}

/** The holder may still be working: it is active, or what superseded it waits for its lease to end. */
function isAlive(statements: Statements, holder: string | undefined, caller: string, now: number): boolean {
  if (holder === undefined || holder === caller) return false
  const row = statements.holder.get(holder)
  if (row === undefined) return false
  return row.state === 'queued' || row.state === 'running' || Number(row.lease_until) > now
}
