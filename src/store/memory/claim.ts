import { claimed, dueAt } from '../../domain/operation.ts'
import type { Claim, Claims, Operation } from '../../store.ts'
import type { Tables } from './tables.ts'

export interface ClaimRequest {
  readonly owner: string
  readonly max: number
  readonly leaseMs: number
  readonly now: number
}

export function claimDue(tables: Tables, { owner, max, leaseMs, now }: ClaimRequest): Claims {
  const due: Operation[] = []
  let nextAt: number | undefined
  for (const operation of tables.queue()) {
    const at = dueAt(operation)
    if (at <= now) due.push(operation)
    else nextAt = Math.min(at, nextAt ?? at)
  }
  due.sort((one, other) => dueAt(one) - dueAt(other))
  const later = due.splice(Math.max(0, max))[0]
  const claims = due.map(operation => {
    const lease = { leaseOwner: owner, leaseUntil: now + leaseMs, fence: tables.nextFence() }
    return claim(tables, operation, lease, now)
  })
  return { claims, now, nextAt: later === undefined ? nextAt : dueAt(later) }
}

type LeaseFields = Pick<Operation, 'fence'> & Required<Pick<Operation, 'leaseOwner' | 'leaseUntil'>>

function claim(tables: Tables, before: Operation, lease: LeaseFields, now: number): Claim {
  const takenOver = before.state === 'running'
  tables.putOperation({ ...claimed(before, now), ...lease })
  const instance = tables.instances.get(before.instanceId)
  const operation = tables.operation(before.id)
  if (instance === undefined || operation === undefined) throw new Error(`operation ${before.id} has no instance`)
  const { bindingId } = before
  const binding = bindingId === undefined ? undefined : tables.binding(before.instanceId, bindingId)
  return { operation, instance, binding, steps: tables.steps(before.id), takenOver }
}
