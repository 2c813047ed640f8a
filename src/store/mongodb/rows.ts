/** Between the documents of the database and the rows of the ledger. */
import type { ObjectId } from 'mongodb'
import { dueAt, isActive } from '../../domain/operation.ts'
import { withoutUndefined } from '../../protocol/json.ts'
import type { Binding, HistoryEvent, Instance, Operation, Step } from '../../store.ts'
import { keyOf as textKeyOf } from '../keys.ts'
import { pinsOf } from '../pins.ts'
import { seal, unseal } from '../sealing.ts'
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

export function fromInstance({ parameters, state, ...doc }: Instance): Row<InstanceDocument> {
  const pins = pinsOf(doc)
  return {
    id: doc.id,
    observeAt: doc.observeAt,
    ...standingOf(doc),
    phase: doc.phase,
    ...(pins.length > 0 && { pins, plan: toText(doc.planId) }),
    listed: listedInstance(doc),
    doc: JSON.stringify(doc),
    sealed: seal({ parameters }),
    sealedState: seal(state),
  }
}

export function fromBinding({ parameters, state, result, ...doc }: Binding): Row<BindingDocument> {
  return {
    instance: keyOf(doc.instanceId),
    ...standingOf(doc),
    phase: doc.phase,
    predecessor: bindingKey(doc.instanceId, doc.predecessorId),
    listed: listedBinding(doc),
    doc: JSON.stringify(doc),
    sealed: seal({ parameters, result }),
    sealedState: seal(state),
  }
}

export function fromOperation(operation: Operation): Row<OperationDocument> {
  const { state, attempt, losses, notBefore, leaseOwner, leaseUntil, fence, ...others } = operation
  const { unclean, checkpointAt, description, input, ...doc } = others
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
    sealed: seal({ input }),
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

export function listedBinding({ createdAt, phase, serviceId, planId }: Omit<Binding, SealedKeys>): ListedBinding {
  return { createdAt, ...standingInLists(phase), service: textKeyOf(serviceId), plan: textKeyOf(planId) }
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

function standingInLists(phase: string): Pick<ListedBinding, 'live' | 'unready'> {
  return { live: phase !== 'deleted' || undefined, unready: phase !== 'ready' || undefined }
}

/** What clean-up and purge go by, besides the phase. */
function standingOf({ phase, lastOperationId, uncleanUntil, deletedAt }: Omit<Instance | Binding, SealedKeys>) {
  return { last: keyOf(lastOperationId), uncleanUntil, deletedAt: phase === 'deleted' ? deletedAt : undefined }
}

type SealedKeys = 'parameters' | 'state' | 'result'

export function fromStep({ output, ...doc }: Step): StepDocument {
  return { key: keyOf(doc.name), done: doc.state === 'done', doc: JSON.stringify(doc), sealed: seal({ output }) }
}

/** Undefined for a document that holds nothing but the lock. */
export function toInstance({ doc, sealed, sealedState }: InstanceDocument): Instance | undefined {
  if (doc === undefined || sealed === undefined || sealedState === undefined) return undefined
  return { ...JSON.parse(doc), ...(unseal(sealed) as object), state: unseal(sealedState) }
}

export function toBinding({ doc, sealed, sealedState }: BindingDocument): Binding {
  return { ...JSON.parse(doc), ...(unseal(sealed) as object), state: unseal(sealedState) }
}

export function toOperation(document: OperationDocument): Operation {
  const { state, attempt, losses, notBefore, leaseOwner, leaseUntil, fence, unclean, checkpointAt } = document
  const { description, doc, sealed } = document
  return withoutUndefined({
    ...JSON.parse(doc),
    ...(unseal(sealed) as object),
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

export function toStep({ doc, sealed }: StepDocument): Step {
  return { ...JSON.parse(doc), ...(unseal(sealed) as object) }
}

/** Nothing of what came about by itself. */
export function actedOf({ type, at, by, verb }: HistoryEvent, id: ObjectId): ActedDocument | undefined {
  const seq = id.toHexString()
  return type === 'acted' ? { at, seq, by: by === undefined ? undefined : textKeyOf(by), verb } : undefined
}

export function toHistory({ doc }: { readonly doc: string }): HistoryEvent {
  return JSON.parse(doc)
}

/** Authors' words go through JSON too: UTF-8 cannot hold half of a character. */
export function toText(words: string): string {
  return JSON.stringify(words)
}

function bindingKey(instanceId: string, bindingId: string | undefined): string | undefined {
  return bindingId === undefined ? undefined : keyOf(instanceId, bindingId)
}
