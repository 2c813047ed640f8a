import { nextState } from '../../domain/operation.ts'
import type { Checkpoint, Lease, Operation, Parking } from '../../store.ts'
import { copy } from './table.ts'
import type { Tables } from './tables.ts'

export function renew(tables: Tables, leases: readonly Lease[], leaseMs: number, now: number): readonly Lease[] {
  return leases.filter(lease => {
    const operation = tables.heldOperation(lease)
    if (operation?.leaseUntil === undefined || operation.leaseUntil <= now) return false
    tables.putOperation({ ...operation, leaseUntil: now + leaseMs })
    return true
  })
}

export function writeCheckpoint(tables: Tables, lease: Lease, checkpoint: Checkpoint, now: number): boolean {
  const operation = tables.heldOperation(lease)
  if (operation === undefined) return false
  const progress = checkpoint.step?.state === 'done' ? { losses: 0, checkpointAt: now } : {}
  tables.putOperation({ ...operation, ...described(checkpoint), ...progress })
  if (checkpoint.step !== undefined) tables.putStep(operation.id, checkpoint.step)
  if (checkpoint.state !== undefined) replaceState(tables, operation, copy(checkpoint.state))
  return true
}

export function park(tables: Tables, lease: Lease, parking: Parking): boolean {
  const operation = tables.heldOperation(lease)
  if (operation === undefined) return false
  const state = nextState(operation.state, 'park')
  tables.putOperation({ ...released(operation), ...described(parking), state, notBefore: parking.until })
  if (parking.step !== undefined) tables.putStep(operation.id, parking.step)
  return true
}

/** Answers whether anybody can start because of it. */
export function handBack(tables: Tables, lease: Lease, now: number): boolean {
  const operation = tables.operations.get(lease.operationId)
  if (operation?.fence !== lease.fence) return false
  if (operation.state === 'running') {
    tables.putOperation({ ...released(operation), state: nextState('running', 'park'), notBefore: now })
    return true
  }
  if (operation.state !== 'superseded') return false
  tables.putOperation({ ...operation, leaseUntil: now })
  startSuccessor(tables, operation.id, now)
  return true
}

function released({ leaseOwner: _owner, leaseUntil: _until, ...operation }: Operation): Operation {
  return operation
}

function described({ description }: Checkpoint | Parking) {
  return description === undefined ? {} : { description }
}

function replaceState(tables: Tables, { instanceId, bindingId }: Operation, state: Checkpoint['state'] & object): void {
  const binding = bindingId === undefined ? undefined : tables.binding(instanceId, bindingId)
  if (binding !== undefined) tables.putBinding({ ...binding, state })
  const instance = bindingId === undefined ? tables.instances.get(instanceId) : undefined
  if (instance !== undefined) tables.instances.keep(instanceId, { ...instance, state })
}

function startSuccessor(tables: Tables, supersededId: string, now: number): void {
  for (const operation of [...tables.queue.all()]) {
    if (operation.drains !== supersededId || operation.state !== 'queued') continue
    tables.putOperation({ ...operation, notBefore: Math.min(operation.notBefore, now) })
  }
}
