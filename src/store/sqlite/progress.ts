import type { JsonObject } from '../../protocol/json.ts'
import type { Checkpoint, Lease, Parking, Step } from '../../store.ts'
import { text, toText } from '../columns.ts'
import { seal, unseal } from '../sealing.ts'
import { fromStep } from './rows.ts'
import type { Statements } from './statements.ts'

export function writeCheckpoint(statements: Statements, lease: Lease, checkpoint: Checkpoint, now: number): boolean {
  const { operationId, fence } = lease
  const description = toText(checkpoint.description)
  const changed =
    checkpoint.step?.state === 'done'
      ? statements.progress.run(description, now, operationId, fence)
      : statements.describe.run(description, operationId, fence)
  if (changed === 0) return false
  if (checkpoint.step !== undefined) writeStep(statements, operationId, checkpoint.step)
  if (checkpoint.state !== undefined) replaceState(statements, operationId, checkpoint.state)
  return true
}

export function park(statements: Statements, { operationId, fence }: Lease, parking: Parking): boolean {
  const changed = statements.park.run(parking.until, toText(parking.description), operationId, fence)
  if (changed === 0) return false
  if (parking.step !== undefined) writeStep(statements, operationId, parking.step)
  return true
}

/** Answers whether anybody can start because of it. */
export function handBack(statements: Statements, { operationId, fence }: Lease, now: number): boolean {
  if (statements.park.run(now, null, operationId, fence) > 0) return true
  if (statements.endSupersededLease.run(now, operationId, fence) === 0) return false
  statements.startSuccessor.run(now, operationId)
  return true
}

export function writeStep(statements: Statements, operationId: string, step: Step): void {
  if (statements.putStep.run(...fromStep(operationId, step)) > 0) return
  throw new Error(`step ${step.name} of operation ${operationId} is done: it cannot be written again`)
}

function replaceState(statements: Statements, operationId: string, state: JsonObject): void {
  const { instanceId, bindingId } = JSON.parse(text(statements.operation.get(operationId)?.doc))
  const key = bindingId === undefined ? [instanceId] : [instanceId, bindingId]
  const row = (bindingId === undefined ? statements.instance : statements.binding).get(...key)
  if (row === undefined) return
  const write = bindingId === undefined ? statements.sealInstance : statements.sealBinding
  write.run(seal({ ...(unseal(text(row.sealed)) as object), state }), ...key)
}
