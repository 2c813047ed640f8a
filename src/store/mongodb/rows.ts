/** Between the documents of the database and the rows of the ledger. */
import type { ObjectId } from 'mongodb'
import { noticeDue } from '../../domain/expiry.ts'
import type { LeftOut } from '../../domain/left-out.ts'
import { dueAt, isActive } from '../../domain/operation.ts'
import { withoutUndefined } from '../../protocol/json.ts'
import type { SealedPlace } from '../../sealing.ts'
import type { Binding, HistoryEvent, Instance, Operation, Step } from '../../store.ts'
import { keyOf as textKeyOf } from '../keys.ts'
import { pinsOf } from '../pins.ts'
import { fromEvent, type Sealer, toEvent } from '../sealing.ts'
import type {
  ActedDocument,
  BindingDocument,
  InstanceDocument,
  ListedBinding,
  ListedInstance,
  ListedOperation,
  OperationDocument,
  StepDocument,
} from './documents.ts'
import { keyOf } from './keys.ts'

/** What the ledger knows and a row does not say stays with the document: its place, its lock, its steps. */
export type Row<Document> = Omit<Document, '_id' | 'seq' | 'lock' | 'steps' | 'spentAt'>

type SealedField = 'sealed' | 'sealedState'

/** The keys are those of the documents. */
export function placeOfInstance(field: SealedField, key: string): SealedPlace {
  return ['instance', field, key]
}

export function placeOfBinding(field: SealedField, key: string): SealedPlace {
  return ['binding', field, key]
}

/** An operation belongs to what it is about. */
export function placeOfOperation(resource: string, key: string): SealedPlace {
  return ['operation', 'sealed', resource, key]
}

export function placeOfStep(operation: string, key: string): SealedPlace {
  return ['step', 'sealed', operation, key]
}

export function fromInstance(sealer: Sealer, instance: Instance): Row<InstanceDocument> {
  const { parameters, state, dashboardToken, requestHash, ...doc } = instance
  const pins = pinsOf(doc)
  const key = keyOf(doc.id)
  return {
    id: doc.id,
    observeAt: doc.observeAt,
    ...standingOf(doc),
    phase: doc.phase,
    ...(pins.length > 0 && { pins, plan: toText(doc.planId) }),
    listed: listedInstance(doc),
    doc: JSON.stringify(doc),
    sealed: sealer.seal({ parameters, dashboardToken, requestHash }, placeOfInstance('sealed', key)),
    sealedState: sealer.seal(state, placeOfInstance('sealedState', key)),
  }
}

export function fromBinding(sealer: Sealer, binding: Binding): Row<BindingDocument> {
  const { parameters, state, result, requestHash, ...doc } = binding
  const key = keyOf(doc.instanceId, doc.id)
  return {
    instance: keyOf(doc.instanceId),
    ...standingOf(doc),
    phase: doc.phase,
    predecessor: bindingKey(doc.instanceId, doc.predecessorId),
    listed: listedBinding(doc),
    doc: JSON.stringify(doc),
    sealed: sealer.seal({ parameters, result, requestHash }, placeOfBinding('sealed', key)),
    sealedState: sealer.seal(state, placeOfBinding('sealedState', key)),
  }
}

export function fromOperation(sealer: Sealer, operation: Operation): Row<OperationDocument> {
  const { state, attempt, losses, notBefore, leaseOwner, leaseUntil, fence, ...others } = operation
  const { unclean, checkpointAt, description, input, identity, requestHash, ...doc } = others
  const instance = keyOf(doc.instanceId)
  const binding = bindingKey(doc.instanceId, doc.bindingId)
  return {
    instance,
    binding,
    ofBinding: binding !== undefined,
    resource: binding ?? instance,
    ...(isActive(operation) && { active: true, dueAt: dueAt(operation) }),
    state,
    attempt,
    losses,
    notBefore,
    leaseOwner,
    leaseUntil,
    fence,
    drains: doc.drains === undefined ? undefined : keyOf(doc.drains),
    unclean,
    checkpointAt,
    description: description === undefined ? undefined : toText(description),
    finishedAt: doc.finishedAt,
    listed: listedOperation(operation),
    doc: JSON.stringify(doc),
    sealed: sealer.seal({ input, identity, requestHash }, placeOfOperation(binding ?? instance, keyOf(doc.id))),
  }
}

export function listedInstance(row: Omit<Instance, SealedKeys>): ListedInstance {
  const { createdAt, phase, platform, serviceId, planId, usable, revisionId } = row
  return {
    createdAt,
    ...standingInLists(phase),
    platform: textKeyOf(platform),
    service: textKeyOf(serviceId),
    plan: textKeyOf(planId),
    usable,
    revision: revisionId,
  }
}

export function listedBinding(row: Omit<Binding, SealedKeys>): ListedBinding {
  const { createdAt, phase, serviceId, planId, expiresAt } = row
  const listed = { createdAt, ...standingInLists(phase), service: textKeyOf(serviceId), plan: textKeyOf(planId) }
  return { ...listed, expiresAt, noticeAt: noticeDue(row) }
}

type Listed = 'acceptedAt' | 'action' | 'state' | 'deadlineAt' | 'serviceId' | 'planId' | 'platform' | 'error' | 'hold'

export function listedOperation(row: Pick<Operation, Listed>): ListedOperation {
  const { acceptedAt, action, state, deadlineAt, serviceId, planId, platform, error, hold } = row
  const key = (name: string | undefined) => (name === undefined ? undefined : textKeyOf(name))
  return {
    acceptedAt,
    action,
    deadlineAt,
    hold: hold && true,
    service: key(serviceId),
    plan: key(planId),
    platform: key(platform),
    step: key(error?.step),
    fingerprint: error?.fingerprint,
    unsuccessful: state === 'failed' || state === 'superseded' || undefined,
  }
}

/** Matches operations that are not left out. */
export function notLeftOut(leftOut: LeftOut | undefined): object {
  if (leftOut === undefined) return {}
  const { services, platforms } = leftOut
  return {
    'listed.service': { $nin: services.map(textKeyOf) },
    'listed.platform': { $nin: platforms.map(textKeyOf) },
  }
}

function standingInLists(phase: string): Pick<ListedBinding, 'live' | 'unready'> {
  return { live: phase !== 'deleted' || undefined, unready: phase !== 'ready' || undefined }
}

/** What clean-up and purge go by, besides the phase. */
function standingOf({ phase, lastOperationId, uncleanUntil, deletedAt }: Omit<Instance | Binding, SealedKeys>) {
  return { last: keyOf(lastOperationId), uncleanUntil, deletedAt: phase === 'deleted' ? deletedAt : undefined }
}

type SealedKeys = 'parameters' | 'state' | 'result' | 'dashboardToken' | 'requestHash'

/** `operation` is its key. */
export function fromStep(sealer: Sealer, operation: string, { output, ...doc }: Step): StepDocument {
  const key = keyOf(doc.name)
  const sealed = sealer.seal({ output }, placeOfStep(operation, key))
  return { key, done: doc.state === 'done', doc: JSON.stringify(doc), sealed }
}

/** Undefined for a document that holds nothing but the lock. */
export function toInstance(sealer: Sealer, document: InstanceDocument): Instance | undefined {
  const { _id: key, doc, sealed, sealedState } = document
  if (doc === undefined || sealed === undefined || sealedState === undefined) return undefined
  return {
    ...JSON.parse(doc),
    ...(sealer.unseal(sealed, placeOfInstance('sealed', key)) as object),
    state: sealer.unseal(sealedState, placeOfInstance('sealedState', key)),
  }
}

export function toBinding(sealer: Sealer, { _id: key, doc, sealed, sealedState }: BindingDocument): Binding {
  return {
    ...JSON.parse(doc),
    ...(sealer.unseal(sealed, placeOfBinding('sealed', key)) as object),
    state: sealer.unseal(sealedState, placeOfBinding('sealedState', key)),
  }
}

export function toOperation(sealer: Sealer, document: OperationDocument): Operation {
  const { state, attempt, losses, notBefore, leaseOwner, leaseUntil, fence, unclean, checkpointAt } = document
  const { _id: key, resource, description, doc, sealed } = document
  return withoutUndefined({
    ...JSON.parse(doc),
    ...(sealer.unseal(sealed, placeOfOperation(resource, key)) as object),
    state,
    attempt,
    losses,
    notBefore,
    leaseOwner,
    leaseUntil,
    fence,
    unclean,
    checkpointAt,
    description: description && JSON.parse(description),
  })
}

/** `operation` is its key. */
export function toStep(sealer: Sealer, operation: string, { key, doc, sealed }: StepDocument): Step {
  return { ...JSON.parse(doc), ...(sealer.unseal(sealed, placeOfStep(operation, key)) as object) }
}

/** Nothing of what came about by itself. */
export function actedOf({ type, at, by, verb }: HistoryEvent, id: ObjectId): ActedDocument | undefined {
  const seq = id.toHexString()
  return type === 'acted' ? { at, seq, by: by === undefined ? undefined : textKeyOf(by), verb } : undefined
}

export function fromHistory(sealer: Sealer, event: HistoryEvent): { readonly instance: string; readonly doc: string } {
  const instance = keyOf(event.instanceId)
  return { instance, doc: fromEvent(sealer, instance, event) }
}

export function toHistory(sealer: Sealer, { instance, doc }: { readonly instance: string; readonly doc: string }) {
  return toEvent(sealer, instance, doc)
}

/** Authors' words go through JSON too: UTF-8 cannot hold half of a character. */
export function toText(words: string): string {
  return JSON.stringify(words)
}

function bindingKey(instanceId: string, bindingId: string | undefined): string | undefined {
  return bindingId === undefined ? undefined : keyOf(instanceId, bindingId)
}
