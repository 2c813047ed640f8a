import { isLeftOut, type LeftOut } from '../../domain/left-out.ts'
import { claimed, dueAt } from '../../domain/operation.ts'
import type { Claim, Claims, Operation } from '../../store.ts'
import { copy } from './table.ts'
import type { Tables } from './tables.ts'

export interface ClaimRequest {
  readonly owner: string
  readonly max: number
  readonly leaseMs: number
  readonly now: number
  readonly leftOut?: LeftOut
}

export function claimDue(tables: Tables, { owner, max, leaseMs, now, leftOut }: ClaimRequest): Claims {
  const due: Operation[] = []
  let next: Operation | undefined
  for (const operation of tables.queue.walk(tables.orders.due)) {
    if (isLeftOut(operation, leftOut)) continue
    if (dueAt(operation) > now || due.length >= max) {
      next = operation
      break
    }
    due.push(operation)
  }
  const claims = due.map(operation => {
    const lease = { leaseOwner: owner, leaseUntil: now + leaseMs, fence: tables.nextFence() }
    tables.putOperation({ ...claimed(operation, now), ...lease })
    return readClaim(tables, operation.id, operation.state === 'running')
  })
  return { claims, now, nextAt: next && dueAt(next) }
}

/** An operation that was just leased. */
export function readClaim(tables: Tables, id: string, takenOver: boolean): Claim {
  const operation = tables.operations.get(id)
  const instance = operation && tables.instances.get(operation.instanceId)
  if (operation === undefined || instance === undefined) throw new Error(`operation ${id} has no instance`)
  const { bindingId } = operation
  const binding = bindingId === undefined ? undefined : tables.binding(instance.id, bindingId)
  // Authors get parts of it, and may do with them what they like.
  return copy({ operation, instance, binding, steps: tables.steps(id), takenOver })
}
