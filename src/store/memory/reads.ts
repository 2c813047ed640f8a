import { isLeftOut, type LeftOut } from '../../domain/left-out.ts'
import { dueAt } from '../../domain/operation.ts'
import { longestLease } from '../../domain/replica-name.ts'
import type { Backlog, Binding, ExpiringBinding } from '../../store.ts'
import type { Tables } from './tables.ts'

export function readBindings(tables: Tables, instanceId: string): readonly Binding[] {
  return tables.bindings.allOf(instanceId).filter(({ phase }) => phase !== 'deleted')
}

export function readClaimants(tables: Tables, key: string, most: number): readonly string[] {
  const observed = tables.claimants(key).filter(({ observeAt }) => observeAt !== undefined)
  return observed.slice(0, Math.max(0, most)).map(({ id }) => id)
}

export function readDueForObservation(tables: Tables, max: number, now: number): readonly string[] {
  const due: string[] = []
  for (const { id, observeAt = 0 } of tables.instances.walk(tables.orders.observed)) {
    if (observeAt > now || due.length >= max) break
    due.push(id)
  }
  return due
}

export function readDueForExpiry(tables: Tables, max: number, now: number): readonly ExpiringBinding[] {
  const due: ExpiringBinding[] = []
  for (const binding of tables.bindings.walk(tables.orders.noticed, { before: now + 1 })) {
    if (due.length >= max) break
    due.push({ instanceId: binding.instanceId, id: binding.id })
  }
  return due
}

interface BacklogRequest {
  readonly most: number
  readonly now: number
  readonly leftOut?: LeftOut
}

export function readBacklog(tables: Tables, { most, now, leftOut }: BacklogRequest): Backlog {
  let due = 0
  let dueSince: number | undefined
  let running = 0
  for (const operation of tables.queue.walk(tables.orders.due, { before: now + longestLease + 1 })) {
    if (isLeftOut(operation, leftOut)) continue
    if (dueAt(operation) > now) running += operation.state === 'running' ? 1 : 0
    else if (due < most) due += 1
    dueSince ??= due === 0 ? undefined : dueAt(operation)
  }
  return { due, dueSince, running: Math.min(running, most), now }
}
