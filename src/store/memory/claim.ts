import { claimed, dueAt } from '../../domain/operation.ts'
import type { Claim, Claims, Operation } from '../../store.ts'
import { copy } from './table.ts'
import type { Tables } from './tables.ts'

export interface ClaimRequest {
  readonly owner: string
  readonly max: number
  readonly leaseMs: number
  readonly now: number
}

export function claimDue(tables: Tables, { owner, max, leaseMs, now }: ClaimRequest): Claims {
  const due: Operation[] = []
  let next: Operation | undefined
  for (const operation of tables.queue.walk(tables.orders.due)) {
    if (dueAt(operation) > now || due.length >= max) {
      next = operation
      break
    }
    due.push(operation)
  }
  const claims = due.map(operation => {
    const lease = { leaseOwner: owner, leaseUntil: now + leaseMs, fence: tables.nextFence() }
    return claim(tables, operation, lease, now)
  })
  return { claims, now, nextAt: next && dueAt(next) }
}

type LeaseFields = Pick<Operation, 'fence'> & Required<Pick<Operation, 'leaseOwner' | 'leaseUntil'>>

function claim(tables: Tables, before: Operation, lease: LeaseFields, now: number): Claim {
  const takenOver = before.state === 'running'
  tables.putOperation({ ...claimed(before, now), ...lease })
  const instance = tables.instances.get(before.instanceId)
  const operation = tables.operations.get(before.id)
  if (instance === undefined || operation === undefined) throw new Error(`operation ${before.id} has no instance`)
  const { bindingId } = before
  const binding = bindingId === undefined ? undefined : tables.binding(before.instanceId, bindingId)
  // Authors get parts of it, and may do with them what they like.
  return copy({ operation, instance, binding, steps: tables.steps(before.id), takenOver })
}
