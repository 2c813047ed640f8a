/** Between the rows of the tables and the rows of the ledger. */
import type { Binding, Change, Instance, Operation, Step } from '../../store.ts'
import { text, toDocument, toText } from '../columns.ts'
import { keyOf } from '../keys.ts'
import { pinsOf } from '../pins.ts'
import { seal, unseal } from '../sealing.ts'
import type { SqlRow } from './driver.ts'

/** The change as write() takes it: what there is of it, under the names of the columns. */
export function fromChange({ instance, bindings, operations, deleteOperations, history }: Change): string {
  return JSON.stringify({
    instance: instance && fromInstance(instance),
    bindings: bindings?.map(fromBinding),
    operations: operations?.map(fromOperation),
    forget: deleteOperations?.map(keyOf),
    history: history?.map(event => ({ instance_id: keyOf(event.instanceId), doc: JSON.stringify(event) })),
  })
}

export function fromStep({ output, ...doc }: Step): SqlRow {
  return { name: keyOf(doc.name), state: doc.state, doc: JSON.stringify(doc), sealed: seal({ output }) }
}

export function toResource<Row extends Instance | Binding>(row: SqlRow): Row {
  return { ...toDocument(row), state: unseal(text(row.sealed_state)) } as Row
}

export function toStep(row: SqlRow): Step {
  return toDocument(row) as Step
}

export function optionalKey(id: string | undefined): string | null {
  return id === undefined ? null : keyOf(id)
}

/** A column that holds a row as JSON, or none. */
export function inner(value: unknown): SqlRow | undefined {
  return (value ?? undefined) as SqlRow | undefined
}

export function fromInstance({ parameters, state, ...doc }: Instance): SqlRow {
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

export function fromBinding({ parameters, state, result, ...doc }: Binding): SqlRow {
  return {
    instance_id: keyOf(doc.instanceId),
    id: keyOf(doc.id),
    ...standingOf(doc),
    predecessor_id: optionalKey(doc.predecessorId),
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

export function fromOperation(operation: Operation): SqlRow {
  const { state, attempt, losses, notBefore, leaseOwner, leaseUntil, fence, ...others } = operation
  const { unclean, checkpointAt, description, input, ...doc } = others
  return {
    id: keyOf(doc.id),
    instance_id: keyOf(doc.instanceId),
    binding_id: optionalKey(doc.bindingId),
    state,
    attempt,
    losses,
    not_before: notBefore,
    lease_owner: leaseOwner,
    lease_until: leaseUntil,
    fence,
    drains: optionalKey(doc.drains),
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
