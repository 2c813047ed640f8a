import { type Batch, type BatchOutcome, isOfInstances } from '../../domain/batch.ts'
import type { OperationVerb } from '../../domain/judge-verb.ts'
import type { Operation } from '../../domain/operation.ts'
import type { Acting, InstanceVerb } from '../../domain/operator.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { NoteConflictError } from '../../store.ts'
import type { BrokerContext } from '../context.ts'
import { abandonInstance } from '../verbs/abandon.ts'
import {
  cancelOperation,
  failOperation,
  holdOperation,
  releaseOperation,
  retryOperation,
  runOperationNow,
} from '../verbs/act-on-operation.ts'
import { moveInstance } from '../verbs/move.ts'
import { observeInstance } from '../verbs/observe.ts'
import { judgeInstance, showOperation } from '../verbs/show.ts'
import { sweepInstance } from '../verbs/sweep.ts'
import { itemId, outcomeNote } from './batch-notes.ts'

interface Item {
  readonly batch: Batch
  readonly id: string
  readonly place: number
}

/** Why the item would be refused now; undefined where it would not be. */
export async function judgeItem(broker: BrokerContext, batch: Batch, id: string): Promise<string | undefined> {
  const { action, revision, bindings = false } = batch
  try {
    if (!isOfInstances(action)) return (await showOperation(broker, id)).allowedActions[action as OperationVerb].reason
    const instance = await broker.store.instance(id)
    if (instance === undefined) return 'There is no instance with this id.'
    const refusals = await judgeInstance(broker, instance, { revision, bindings })
    return refusals.find(([verb]) => verb === action)?.[1]
  } catch (error) {
    if (error instanceof BrokerError) return error.message
    throw error
  }
}

/**
 * Acts on one item, once: its outcome is a note in the transaction of what is done, so that whoever goes on with the batch
 * after a crash finds both, or neither. Answers how it has ended, now or before.
 */
export async function actOnItem(broker: BrokerContext, item: Item): Promise<BatchOutcome> {
  const { batch, id, place } = item
  const { by, reason, requestId } = batch
  const noted = (outcome: BatchOutcome) => outcomeNote(batch, place, outcome)
  const remember = (answer: unknown) => noted({ id, outcome: 'done', operation: operationIn(answer) })
  try {
    await perform(broker, item, { by, reason, requestId, remember })
  } catch (error) {
    const known = await broker.store.note('batch-item', itemId(batch.id, place))
    if (known === undefined && !(error instanceof BrokerError)) throw error
    if (known === undefined && error instanceof BrokerError) await noteRefusal(broker, item, error)
  }
  const note = await broker.store.note('batch-item', itemId(batch.id, place))
  if (note === undefined) throw new Error(`the item ${id} of the batch ${batch.id} has no outcome`)
  return note.doc as unknown as BatchOutcome
}

async function noteRefusal({ store }: BrokerContext, { batch, id, place }: Item, refused: BrokerError): Promise<void> {
  const { status, code: error, message: detail } = refused
  const outcome = { id, outcome: 'refused', status, error, detail } as const
  try {
    await store.writeNotes([{ ...outcomeNote(batch, place, outcome), version: 0 }])
  } catch (conflict) {
    if (!(conflict instanceof NoteConflictError)) throw conflict
  }
}

function perform(broker: BrokerContext, { batch, id }: Item, acting: Acting): Promise<unknown> {
  const { message = '', revision: revisionId, bindings = false } = batch
  const verbs: Readonly<Record<OperationVerb | InstanceVerb, () => Promise<unknown>>> = {
    retry: () => retryOperation(broker, acting, id),
    cancel: () => cancelOperation(broker, acting, id),
    fail: () => failOperation(broker, acting, { id, message }),
    hold: () => holdOperation(broker, acting, id),
    release: () => releaseOperation(broker, acting, id),
    'run-now': () => runOperationNow(broker, acting, id),
    move: () => moveInstance(broker, acting, { instanceId: id, revisionId }),
    abandon: () => abandonInstance(broker, acting, { instanceId: id, bindings }),
    observe: () => observeInstance(broker, acting, id),
    sweep: () => sweepInstance(broker, acting, { instanceId: id }),
  }
  return verbs[batch.action]()
}

/** Verbs on operations answer one. */
function operationIn(answer: unknown): string | undefined {
  const { id, action } = answer as Partial<Operation>
  return action === undefined ? undefined : id
}
