/** Between the rows of the tables and the rows of the ledger. */

import type { SealedPlace } from '../../sealing.ts'
import type { Binding, Instance, Operation, Step } from '../../store.ts'
import { toOperation as operationOf, text, toDocument, toText } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { Sealer } from '../sealing.ts'
import type { SqlRow, SqlValue } from './driver.ts'

export function placeOfInstance(id: string): SealedPlace {
  return ['instance', 'sealed', id]
}

export function placeOfBinding(instanceId: string, id: string): SealedPlace {
  return ['binding', 'sealed', instanceId, id]
}

export function placeOfStep(operationId: string, name: string): SealedPlace {
  return ['step', 'sealed', operationId, name]
}

export function fromInstance(sealer: Sealer, instance: Instance): SqlValue[] {
  const { parameters, state, dashboardToken, requestHash, ...doc } = instance
  return [
    doc.id,
    doc.observeAt ?? null,
    ...standingOf(doc),
    doc.revisionId ?? null,
    doc.nextRevisionId ?? null,
    (doc.revisionId ?? doc.nextRevisionId) === undefined ? null : toText(doc.planId),
    doc.createdAt,
    keyOf(doc.platform),
    keyOf(doc.serviceId),
    keyOf(doc.planId),
    doc.usable ? 1 : 0,
    JSON.stringify(doc),
    sealer.seal({ parameters, state, dashboardToken, requestHash }, placeOfInstance(doc.id)),
  ]
}

export function fromBinding(sealer: Sealer, binding: Binding): SqlValue[] {
  const { parameters, state, result, requestHash, ...doc } = binding
  return [
    doc.instanceId,
    doc.id,
    ...standingOf(doc),
    doc.createdAt,
    keyOf(doc.serviceId),
    keyOf(doc.planId),
    JSON.stringify(doc),
    sealer.seal({ parameters, state, result, requestHash }, placeOfBinding(doc.instanceId, doc.id)),
  ]
}

export function fromOperation(sealer: Sealer, operation: Operation): SqlValue[] {
  const { state, attempt, losses, notBefore, leaseOwner, leaseUntil, fence, ...others } = operation
  const { drains, unclean, checkpointAt, description, input, identity, requestHash, ...doc } = others
  return [
    doc.id,
    doc.instanceId,
    doc.bindingId ?? null,
    state,
    attempt,
    losses,
    notBefore,
    leaseOwner ?? null,
    leaseUntil ?? null,
    fence,
    drains ?? null,
    unclean ? 1 : 0,
    checkpointAt ?? null,
    toText(description),
    doc.finishedAt ?? null,
    doc.acceptedAt,
    doc.action,
    JSON.stringify(doc),
    sealer.seal({ input, identity, requestHash }, ['operation', 'sealed', doc.instanceId, doc.bindingId ?? '', doc.id]),
  ]
}

export function fromStep(sealer: Sealer, operationId: string, { output, ...doc }: Step): SqlValue[] {
  const sealed = sealer.seal({ output }, placeOfStep(operationId, doc.name))
  return [operationId, doc.name, doc.state, JSON.stringify(doc), sealed]
}

export function toInstance(sealer: Sealer, row: SqlRow): Instance {
  return toDocument(sealer, row, placeOfInstance(text(row.id))) as Instance
}

export function toBinding(sealer: Sealer, row: SqlRow): Binding {
  return toDocument(sealer, row, placeOfBinding(text(row.instance_id), text(row.id))) as Binding
}

export function toStep(sealer: Sealer, row: SqlRow): Step {
  return toDocument(sealer, row, placeOfStep(text(row.operation_id), text(row.name))) as Step
}

export function toOperation(sealer: Sealer, row: SqlRow): Operation {
  return operationOf(sealer, row, row.drains === null ? undefined : { drains: row.drains as string })
}

/** What clean-up and purge go by. */
function standingOf(row: Pick<Instance | Binding, 'phase' | 'lastOperationId' | 'uncleanUntil' | 'deletedAt'>) {
  const { phase, lastOperationId, uncleanUntil = null, deletedAt = null } = row
  return [phase, lastOperationId, uncleanUntil, phase === 'deleted' ? deletedAt : null]
}
