import { decideShared, type SharedResource, type SharedVerdict, type SharedWish } from '../../domain/shared-claim.ts'
import type { Lease } from '../../store.ts'
import type { Tables } from './tables.ts'

export interface Sharing {
  readonly lease: Lease
  readonly key: string
  readonly wish: SharedWish
  readonly now: number
}

export function share(tables: Tables, { lease, key, wish, now }: Sharing): SharedVerdict['answer'] | undefined {
  const operation = tables.heldOperation(lease)
  if (operation === undefined) return undefined
  const row: SharedResource = tables.shared.get(key) ?? { key, phase: 'absent' }
  const { answer, ...verdict } = decideShared(wish, {
    row,
    operationId: operation.id,
    otherClaims: tables.otherClaims(key, operation.instanceId),
    holderAlive: isAlive(tables, row.holder, operation.id, now),
  })
  if (verdict.row.phase === 'absent') tables.shared.remove(key)
  else tables.shared.put(key, verdict.row)
  if (verdict.claim !== undefined) tables.putClaim(key, operation.instanceId, verdict.claim)
  return answer
}

/** The holder may still be working: it is active, or what superseded it waits for its lease to end. */
function isAlive(tables: Tables, holder: string | undefined, caller: string, now: number): boolean {
  if (holder === undefined || holder === caller) return false
  const operation = tables.operations.get(holder)
  if (operation === undefined) return false
  return operation.state === 'queued' || operation.state === 'running' || (operation.leaseUntil ?? 0) > now
}
