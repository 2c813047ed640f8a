/** Between the rows of the tables and the rows of the ledger. */
import type { Binding, Instance, Operation, Step } from '../../store.ts'
import { toOperation as operationOf, toDocument, toText } from '../columns.ts'
import { keyOf } from '../keys.ts'
import { seal } from '../sealing.ts'
import type { SqlRow, SqlValue } from './driver.ts'

export function fromInstance({ parameters, state, ...doc }: Instance): SqlValue[] {
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
    seal({ parameters, state }),
  ]
}

export function fromBinding({ parameters, state, result, ...doc }: Binding): SqlValue[] {
  return [
    doc.instanceId,
    doc.id,
    ...standingOf(doc),
    doc.createdAt,
    keyOf(doc.serviceId),
    keyOf(doc.planId),
    JSON.stringify(doc),
    seal({ parameters, state, result }),
  ]
}

export function fromOperation(operation: Operation): SqlValue[] {
  const { state, attempt, losses, notBefore, leaseOwner, leaseUntil, fence, ...others } = operation
  const { drains, unclean, checkpointAt, description, input, ...doc } = others
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
    seal({ input }),
  ]
}

export function fromStep(operationId: string, { output, ...doc }: Step): SqlValue[] {
  return [operationId, doc.name, doc.state, JSON.stringify(doc), seal({ output })]
}

export function toRow<Row extends Instance | Binding | Step>(row: SqlRow): Row {
  return toDocument(row) as Row
}

export function toOperation(row: SqlRow): Operation {
  return operationOf(row, row.drains === null ? undefined : { drains: row.drains as string })
}

/** What clean-up and purge go by. */
function standingOf(row: Pick<Instance | Binding, 'phase' | 'lastOperationId' | 'uncleanUntil' | 'deletedAt'>) {
  const { phase, lastOperationId, uncleanUntil = null, deletedAt = null } = row
  return [phase, lastOperationId, uncleanUntil, phase === 'deleted' ? deletedAt : null]
}
