/** Between the rows of the tables and the rows of the ledger. */
import { withoutUndefined } from '../../protocol/json.ts'
import type { Binding, Change, HistoryEvent, Instance, Operation, Step } from '../../store.ts'
import { fromText, text, toText } from '../columns.ts'
import { keyOf } from '../keys.ts'
import { pinsOf } from '../pins.ts'
import { seal, unseal } from '../sealing.ts'
import type { SqlRow } from './driver.ts'

/** The change as write() takes it: what there is of it, under the names of the columns. */
export function fromChange({ instance, bindings, operations, deleteOperations, history }: Change): string {
  return JSON.stringify({
    ...(instance === undefined ? {} : { instance: fromInstance(instance) }),
    ...(bindings === undefined ? {} : { bindings: bindings.map(fromBinding) }),
    ...(operations === undefined ? {} : { operations: operations.map(fromOperation) }),
    ...(deleteOperations === undefined ? {} : { forget: deleteOperations.map(keyOf) }),
    ...(history === undefined ? {} : { history: history.map(fromHistory) }),
  })
}

export function fromStep({ output, ...doc }: Step): SqlRow {
  return { name: keyOf(doc.name), state: doc.state, doc: JSON.stringify(doc), sealed: seal({ output }) }
}

export function toInstance(row: SqlRow): Instance {
  return { ...toDocument(row), state: unseal(text(row.sealed_state)) } as Instance
}

export function toBinding(row: SqlRow): Binding {
  return { ...toDocument(row), state: unseal(text(row.sealed_state)) } as Binding
}

export function toOperation(row: SqlRow): Operation {
  return withoutUndefined({
    ...toDocument(row),
    state: row.state,
    attempt: row.attempt,
    losses: row.losses,
    notBefore: row.not_before,
    leaseOwner: row.lease_owner ?? undefined,
    leaseUntil: row.lease_until ?? undefined,
    fence: row.fence,
    unclean: row.unclean,
    checkpointAt: row.checkpoint_at ?? undefined,
    description: fromText(row.description),
  }) as Operation
}

export function toStep(row: SqlRow): Step {
  return toDocument(row) as Step
}

/** A column that holds a row as JSON, or none. */
export function inner(value: unknown): SqlRow | undefined {
  return value === null || value === undefined ? undefined : (value as SqlRow)
}

function fromInstance({ parameters, state, ...doc }: Instance): SqlRow {
  return {
    id: keyOf(doc.id),
    observe_at: doc.observeAt,
    ...standingOf(doc),
    revision_id: doc.revisionId,
    next_revision_id: doc.nextRevisionId,
    pinned_plan: pinsOf(doc).length === 0 ? null : toText(doc.planId),
    created_at: doc.createdAt,
    platform: keyOf(doc.platform),
    service_id: keyOf(doc.serviceId),
    plan_id: keyOf(doc.planId),
    usable: doc.usable,
    doc: JSON.stringify(doc),
    sealed: seal({ parameters }),
    sealed_state: seal(state),
  }
}

function fromBinding({ parameters, state, result, ...doc }: Binding): SqlRow {
  return {
    instance_id: keyOf(doc.instanceId),
    id: keyOf(doc.id),
    ...standingOf(doc),
    predecessor_id: doc.predecessorId === undefined ? null : keyOf(doc.predecessorId),
    created_at: doc.createdAt,
    service_id: keyOf(doc.serviceId),
    plan_id: keyOf(doc.planId),
    doc: JSON.stringify(doc),
    sealed: seal({ parameters, result }),
    sealed_state: seal(state),
  }
}

/** What clean-up and purge go by. */
function standingOf(row: Pick<Instance | Binding, 'phase' | 'lastOperationId' | 'uncleanUntil' | 'deletedAt'>): SqlRow {
  const { phase, lastOperationId, uncleanUntil, deletedAt } = row
  return {
    phase,
    last_operation_id: keyOf(lastOperationId),
    unclean_until: uncleanUntil,
    deleted_at: phase === 'deleted' ? deletedAt : undefined,
  }
}

function fromOperation(operation: Operation): SqlRow {
  const { state, attempt, losses, notBefore, leaseOwner, leaseUntil, fence, ...others } = operation
  const { unclean, checkpointAt, description, input, ...doc } = others
  return {
    id: keyOf(doc.id),
    instance_id: keyOf(doc.instanceId),
    binding_id: doc.bindingId === undefined ? null : keyOf(doc.bindingId),
    state,
    attempt,
    losses,
    not_before: notBefore,
    lease_owner: leaseOwner,
    lease_until: leaseUntil,
    fence,
    drains: doc.drains === undefined ? null : keyOf(doc.drains),
    unclean,
    checkpoint_at: checkpointAt,
    description: toText(description),
    finished_at: doc.finishedAt,
    accepted_at: doc.acceptedAt,
    action: doc.action,
    doc: JSON.stringify(doc),
    sealed: seal({ input }),
  }
}

function fromHistory(event: HistoryEvent): SqlRow {
  return { instance_id: keyOf(event.instanceId), doc: JSON.stringify(event) }
}

function toDocument(row: SqlRow): object {
  return { ...JSON.parse(text(row.doc)), ...(unseal(text(row.sealed)) as object) }
}
