import type { JsonObject } from '../../protocol/json.ts'
import type { Checkpoint, Lease, Parking, Step } from '../../store.ts'
import { text, toText } from '../columns.ts'
import { fromStep, placeOfBinding, placeOfInstance } from './rows.ts'
import type { Calls, Statements } from './statements.ts'

export function writeCheckpoint(calls: Calls, lease: Lease, checkpoint: Checkpoint): boolean {
  const { statements, clock } = calls
  const { operationId, fence } = lease
  const description = toText(checkpoint.description)
  const changed =
    checkpoint.step?.state === 'done'
      ? statements.progress.run(description, clock.now(), operationId, fence)
      : statements.describe.run(description, operationId, fence)
  if (changed === 0) return false
  if (checkpoint.step !== undefined) writeStep(calls, operationId, checkpoint.step)
  if (checkpoint.state !== undefined) replaceState(calls, operationId, checkpoint.state)
  return true
}

export function park(calls: Calls, { operationId, fence }: Lease, parking: Parking): boolean {
  const changed = calls.statements.park.run(parking.until, toText(parking.description), operationId, fence)
  if (changed === 0) return false
  if (parking.step !== undefined) writeStep(calls, operationId, parking.step)
  return true
}

/** Answers whether anybody can start because of it. */
export function handBack(statements: Statements, { operationId, fence }: Lease, now: number): boolean {
  if (statements.park.run(now, null, operationId, fence) > 0) return true
  if (statements.endSupersededLease.run(now, operationId, fence) === 0) return false
  statements.startSuccessor.run(now, operationId)
  return true
}

export function writeStep({ statements, sealer }: Calls, operationId: string, step: Step): void {
  if (statements.putStep.run(...fromStep(sealer, operationId, step)) > 0) return
  throw new Error(`step ${step.name} of operation ${operationId} is done: it cannot be written again`)
}

function replaceState({ statements, sealer }: Calls, operationId: string, state: JsonObject): void {
  const { instanceId, bindingId } = JSON.parse(text(statements.operation.get(operationId)?.doc))
  const key = bindingId === undefined ? [instanceId] : [instanceId, bindingId]
  const row = (bindingId === undefined ? statements.instance : statements.binding).get(...key)
  if (row === undefined) return
  const write = bindingId === undefined ? statements.sealInstance : statements.sealBinding
  const doc = JSON.parse(text(row.doc))
  const place = bindingId === undefined ? placeOfInstance(row, doc) : placeOfBinding(row, doc)
  const before = sealer.unseal(text(row.sealed), place) as object
  write.run(sealer.seal({ ...before, state }, place), ...key)
}
