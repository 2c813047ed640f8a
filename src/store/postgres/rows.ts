/** Between the rows of the tables and the rows of the ledger. */

import { noBinding } from '../../domain/binding.ts'
import { noInstance } from '../../domain/instance.ts'
import type { SealedPlace } from '../../sealing.ts'
import type { Binding, Change, HistoryEvent, Instance, Operation, Step } from '../../store.ts'
import { placeOfOperation, text, toDocument, toText } from '../columns.ts'
import { keyOf } from '../keys.ts'
import { pinsOf } from '../pins.ts'
import { fromEvent, type Sealer } from '../sealing.ts'
import type { SqlRow } from './driver.ts'
import { generatedKey } from './operator-schema.ts'

type SealedColumn = 'sealed' | 'sealed_state'

/** The keys are those of the columns. */
export function placeOfInstance(column: SealedColumn, key: string): SealedPlace {
  return ['instance', column, key]
}

export function placeOfBinding(column: SealedColumn, instance: string, key: string): SealedPlace {
  return ['binding', column, instance, key]
}

export function placeOfStep(operation: string, name: string): SealedPlace {
  return ['step', 'sealed', operation, name]
}

/** The change as write() takes it: what there is of it, under the names of the columns. */
export function fromChange(sealer: Sealer, change: Change): string {
  const { instance, bindings, operations, deleteOperations, history } = change
  return JSON.stringify({
    instance: instance && fromInstance(sealer, instance),
    bindings: bindings?.map(binding => fromBinding(sealer, binding)),
    operations: operations?.map(operation => fromOperation(sealer, operation)),
    forget: deleteOperations?.map(keyOf),
    history: history?.map(event => fromHistory(sealer, event)),
  })
}

export function fromHistory(sealer: Sealer, event: HistoryEvent): SqlRow {
  const key = keyOf(event.instanceId)
  return { instance_id: key, doc: fromEvent(sealer, key, event) }
}

/** `operation` is its key. */
export function fromStep(sealer: Sealer, operation: string, { output, ...doc }: Step): SqlRow {
  const name = keyOf(doc.name)
  const sealed = sealer.seal({ output }, placeOfStep(operation, name))
  return { name, state: doc.state, doc: JSON.stringify(doc), sealed }
}

export function toInstance(sealer: Sealer, row: SqlRow): Instance {
  const key = text(row.id)
  const state = sealer.unseal(text(row.sealed_state), placeOfInstance('sealed_state', key))
  return { ...toDocument(sealer, row, placeOfInstance('sealed', key), noInstance), state } as Instance
}

export function toBinding(sealer: Sealer, row: SqlRow): Binding {
  const [instance, key] = [text(row.instance_id), text(row.id)]
  const state = sealer.unseal(text(row.sealed_state), placeOfBinding('sealed_state', instance, key))
  return { ...toDocument(sealer, row, placeOfBinding('sealed', instance, key), noBinding), state } as Binding
}

export function toStep(sealer: Sealer, row: SqlRow): Step {
  return toDocument(sealer, row, placeOfStep(text(row.operation_id), text(row.name))) as Step
}

export function optionalKey(id: string | undefined): string | null {
  return id === undefined ? null : keyOf(id)
}

/** A column that holds a row as JSON, or none. */
export function inner(value: unknown): SqlRow | undefined {
  return (value ?? undefined) as SqlRow | undefined
}

export function fromInstance(sealer: Sealer, instance: Instance): SqlRow {
  const { parameters, state, dashboardToken, requestHash, ...doc } = instance
  const id = keyOf(doc.id)
  return {
    id,
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
    sealed: sealer.seal({ parameters, dashboardToken, requestHash }, placeOfInstance('sealed', id)),
    sealed_state: sealer.seal(state, placeOfInstance('sealed_state', id)),
  }
}

export function fromBinding(sealer: Sealer, binding: Binding): SqlRow {
  const { parameters, state, result, requestHash, ...doc } = binding
  const [instance, id] = [keyOf(doc.instanceId), keyOf(doc.id)]
  return {
    instance_id: instance,
    id,
    ...standingOf(doc),
    predecessor_id: optionalKey(doc.predecessorId),
    created_at: doc.createdAt,
    service_id: keyOf(doc.serviceId),
    plan_id: keyOf(doc.planId),
    doc: JSON.stringify(doc),
    sealed: sealer.seal({ parameters, result, requestHash }, placeOfBinding('sealed', instance, id)),
    sealed_state: sealer.seal(state, placeOfBinding('sealed_state', instance, id)),
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

export function fromOperation(sealer: Sealer, operation: Operation): SqlRow {
  const { state, attempt, losses, notBefore, leaseOwner, leaseUntil, fence, ...others } = operation
  const { unclean, checkpointAt, description, input, identity, requestHash, ...doc } = others
  const keys = { id: keyOf(doc.id), instance_id: keyOf(doc.instanceId), binding_id: optionalKey(doc.bindingId) }
  return {
    ...keys,
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
    service_key: nameKey(doc.serviceId),
    plan_key: nameKey(doc.planId),
    platform_key: nameKey(doc.platform),
    failed_step: nameKey(doc.error?.step),
    fingerprint: doc.error?.fingerprint,
    doc: JSON.stringify(doc),
    sealed: sealer.seal({ input, identity, requestHash }, placeOfOperation(keys)),
  }
}

/** Most operations are about a few services of a few platforms. */
const nameKeys = new Map<string, string>()
const mostNameKeys = 1_000

function nameKey(name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  const known = nameKeys.get(name)
  if (known !== undefined) return known
  const key = generatedKey(name)
  if (nameKeys.size >= mostNameKeys) nameKeys.clear()
  nameKeys.set(name, key)
  return key
}
