/** Between the rows of the tables and the rows of the ledger. */

import { noBinding } from '../../domain/binding.ts'
import { noticeDue } from '../../domain/expiry.ts'
import { noInstance } from '../../domain/instance.ts'
import type { SealedPlace } from '../../sealing.ts'
import type { Binding, Instance, Operation, Step } from '../../store.ts'
import { toOperation as operationOf, text, toDocument, toText } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { Sealer } from '../sealing.ts'
import type { SqlRow, SqlValue } from './driver.ts'

type Doc = Readonly<Record<string, unknown>>

/**
 * The id that a row is found by, as it was written. SQLite's libraries give no text back as it was that has a NUL or half of a
 * character: then it is the one of the document.
 */
function idIn(column: unknown, inDoc: unknown): string {
  if (typeof inDoc !== 'string' || isPlain(inDoc)) return String(column ?? '')
  // Some end at the NUL.
  return isPlain(column) && !inDoc.startsWith(`${column}\0`) ? String(column) : inDoc
}

function isPlain(id: unknown): boolean {
  return typeof id === 'string' && /^[ -~]*$/.test(id)
}

export function placeOfInstance(row: SqlRow, doc: Doc): SealedPlace {
  return ['instance', 'sealed', idIn(row.id, doc.id)]
}

export function placeOfBinding(row: SqlRow, doc: Doc): SealedPlace {
  return ['binding', 'sealed', idIn(row.instance_id, doc.instanceId), idIn(row.id, doc.id)]
}

export function placeOfOperation(row: SqlRow, doc: Doc): SealedPlace {
  const ids = [idIn(row.instance_id, doc.instanceId), idIn(row.binding_id, doc.bindingId), idIn(row.id, doc.id)]
  return ['operation', 'sealed', ...ids]
}

export function placeOfStep(row: SqlRow, doc: Doc): SealedPlace {
  return ['step', 'sealed', text(row.operation_id), idIn(row.name, doc.name)]
}

/** What the history of an instance is found by. */
export function eventKey(row: SqlRow): string {
  return idIn(row.instance_id, JSON.parse(text(row.doc)).instanceId)
}

/*
 * What has a column of its own, or is sealed, is left out of the document: it is undefined there, which JSON does not write. Rows have
 * all their fields, and to set one costs less than to take the rest of an object apart.
 */

export function fromInstance(sealer: Sealer, instance: Instance): SqlValue[] {
  const { parameters, state, dashboardToken, requestHash } = instance
  const left = { parameters: undefined, state: undefined, dashboardToken: undefined, requestHash: undefined }
  const doc = { ...instance, ...left }
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
    sealer.seal({ parameters, state, dashboardToken, requestHash }, placeOfInstance(doc, doc)),
  ]
}

export function fromBinding(sealer: Sealer, binding: Binding): SqlValue[] {
  const { parameters, state, result, requestHash } = binding
  const left = { parameters: undefined, state: undefined, result: undefined, requestHash: undefined }
  const doc = { ...binding, ...left }
  return [
    doc.instanceId,
    doc.id,
    ...standingOf(doc),
    doc.createdAt,
    keyOf(doc.serviceId),
    keyOf(doc.planId),
    doc.expiresAt ?? null,
    noticeDue(doc) ?? null,
    JSON.stringify(doc),
    sealer.seal(
      { parameters, state, result, requestHash },
      placeOfBinding({ instance_id: doc.instanceId, id: doc.id }, doc),
    ),
  ]
}

const leftOfOperation = {
  state: undefined,
  attempt: undefined,
  losses: undefined,
  notBefore: undefined,
  leaseOwner: undefined,
  leaseUntil: undefined,
  fence: undefined,
  drains: undefined,
  unclean: undefined,
  checkpointAt: undefined,
  description: undefined,
  input: undefined,
  identity: undefined,
  requestHash: undefined,
}

export function fromOperation(sealer: Sealer, operation: Operation): SqlValue[] {
  const { state, attempt, losses, notBefore, leaseOwner, leaseUntil, fence } = operation
  const { drains, unclean, checkpointAt, description, input, identity, requestHash } = operation
  const doc = { ...operation, ...leftOfOperation }
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
    doc.serviceId,
    doc.planId ?? null,
    doc.platform ?? null,
    doc.error?.step ?? null,
    doc.error?.fingerprint ?? null,
    JSON.stringify(doc),
    sealer.seal(
      { input, identity, requestHash },
      placeOfOperation({ instance_id: doc.instanceId, binding_id: doc.bindingId, id: doc.id }, doc),
    ),
  ]
}

export function fromStep(sealer: Sealer, operationId: string, step: Step): SqlValue[] {
  const { name, state, output } = step
  const doc = { ...step, output: undefined }
  const sealed = sealer.seal({ output }, placeOfStep({ operation_id: operationId, name }, doc))
  return [operationId, name, state, JSON.stringify(doc), sealed]
}

export function toInstance(sealer: Sealer, row: SqlRow): Instance {
  return toDocument(sealer, row, doc => placeOfInstance(row, doc), noInstance) as Instance
}

export function toBinding(sealer: Sealer, row: SqlRow): Binding {
  return toDocument(sealer, row, doc => placeOfBinding(row, doc), noBinding) as Binding
}

export function toStep(sealer: Sealer, row: SqlRow): Step {
  return toDocument(sealer, row, doc => placeOfStep(row, doc)) as Step
}

export function toOperation(sealer: Sealer, row: SqlRow): Operation {
  const more = row.drains === null ? undefined : { drains: row.drains as string }
  return operationOf(sealer, row, more, placeOfOperation)
}

/** What clean-up and purge go by. */
function standingOf(row: Pick<Instance | Binding, 'phase' | 'lastOperationId' | 'uncleanUntil' | 'deletedAt'>) {
  const { phase, lastOperationId, uncleanUntil = null, deletedAt = null } = row
  return [phase, lastOperationId, uncleanUntil, phase === 'deleted' ? deletedAt : null]
}
