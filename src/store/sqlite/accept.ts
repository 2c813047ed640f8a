import type {
  Change,
  Finishing,
  HistoryEvent,
  Lease,
  Operation,
  Snapshot,
  Target,
  Verdict,
  WakeUp,
} from '../../store.ts'
import { text } from '../columns.ts'
import { pinsOf, revisionGone } from '../pins.ts'
import { fromEvent } from '../sealing.ts'
import { wakeUpsOf } from '../wake-ups.ts'
import type { SqlValue, Statement } from './driver.ts'
import { writeNotes } from './notes.ts'
import { writeStep } from './progress.ts'
import { requireQuota } from './quota.ts'
import { readBinding } from './reads.ts'
import { fromBinding, fromInstance, fromOperation, toInstance, toOperation, toStep } from './rows.ts'
import type { Calls, Statements } from './statements.ts'

/** What was decided, to be written by `applyChange`. */
export function accept<Answer>(
  calls: Calls,
  target: Target,
  decide: (snapshot: Snapshot) => Verdict<Answer>,
): Verdict<Answer> {
  const { statements, clock } = calls
  const verdict = decide(readSnapshot(calls, clock.now(), target))
  requirePins(statements, verdict.change)
  if (verdict.change?.within !== undefined) requireQuota(statements, verdict.change.within)
  return verdict
}

/** The change that ends the operation; undefined where the lease is lost. */
export function finish(
  calls: Calls,
  { operationId, fence }: Lease,
  decide: (snapshot: Finishing) => Change,
): Change | undefined {
  const { statements, sealer, clock } = calls
  const row = statements.heldOperation.get(operationId, fence)
  if (row === undefined) return undefined
  const finishing = toOperation(sealer, row)
  const { instanceId, bindingId } = finishing
  const binding = bindingId === undefined ? undefined : readBinding(calls, instanceId, bindingId)
  const target = { instanceId, bindingId, predecessorId: binding?.predecessorId }
  const change = decide({ ...readSnapshot(calls, clock.now(), target, finishing), finishing })
  requirePins(statements, change)
  return change
}

/** `held` is an operation of the target that is known to be the active one: it is not read again. */
function readSnapshot(calls: Calls, now: number, target: Target, held?: Operation): Snapshot {
  const { statements, sealer } = calls
  const { instanceId, bindingId, predecessorId } = target
  const row = statements.snapshot.get(instanceId)
  // Bindings and operations refer to their instance: without it there are none.
  if (row === undefined) return { now, liveBindings: 0, busyBindings: 0, sweptBindings: 0 }
  const active = (id?: string) => {
    if (held !== undefined && held.bindingId === id) return held
    const found = statements.activeOperation.get(instanceId, id ?? '')
    return found && toOperation(sealer, found)
  }
  const swept = Number(row.active) === 0 ? 0 : Number(statements.sweptBindings.get(instanceId)?.swept)
  return {
    now,
    instance: toInstance(sealer, row),
    operation: active(),
    binding: bindingId === undefined ? undefined : readBinding(calls, instanceId, bindingId),
    bindingOperation: bindingId === undefined ? undefined : active(bindingId),
    predecessor: predecessorId === undefined ? undefined : readBinding(calls, instanceId, predecessorId),
    liveBindings: Number(row.live),
    busyBindings: Number(row.active) - swept,
    sweptBindings: swept,
  }
}

/** Answers the ids of the operations that it has emptied. */
export function applyChange(calls: Calls, change: Change, wake: WakeUp[]): readonly string[] {
  const { statements, sealer } = calls
  if (change.instance !== undefined)
    put(statements.putInstance, statements.replaceInstance, fromInstance(sealer, change.instance))
  for (const binding of change.bindings ?? [])
    put(statements.putBinding, statements.replaceBinding, fromBinding(sealer, binding))
  for (const operation of change.operations ?? []) {
    put(statements.putOperation, statements.replaceOperation, fromOperation(sealer, operation))
    if (operation.finishedAt !== undefined && !isLatest(operation, change)) statements.spendOperation.run(operation.id)
  }
  if (change.copySteps !== undefined) copySteps(calls, change.copySteps)
  for (const id of change.deleteOperations ?? []) statements.deleteOperation.run(id)
  writeNotes(statements, change.notes ?? [])
  for (const event of change.history ?? []) appendEvent(calls, event)
  wake.push(...wakeUpsOf(change))
  return emptyDeleted(statements, change)
}

export function appendEvent({ statements, sealer }: Calls, event: HistoryEvent): void {
  const { instanceId, at, by = null, verb = null } = event
  const doc = fromEvent(sealer, instanceId, event)
  if (event.type === 'acted') statements.appendAct.run(instanceId, doc, at, by, verb)
  else statements.appendHistory.run(instanceId, doc)
}

/** What is sealed of a step belongs to its operation: it is sealed again for the other one. */
function copySteps(calls: Calls, { from, to }: NonNullable<Change['copySteps']>): void {
  for (const row of calls.statements.doneSteps.all(from)) writeStep(calls, to, toStep(calls.sealer, row))
}

/** What operations have kept goes with what they were about. What is active may still need it, as a sweep does. */
function emptyDeleted(statements: Statements, change: Change): readonly string[] {
  const { instance, bindings = [], operations = [] } = change
  const gone = [
    ...(instance?.phase === 'deleted' ? statements.keepingOperations.all(instance.id, null) : []),
    ...bindings
      .filter(({ phase }) => phase === 'deleted')
      .flatMap(({ instanceId, id }) => statements.keepingOperations.all(instanceId, id)),
    ...operations
      .filter(operation => operation.finishedAt !== undefined && !isLatest(operation, change))
      .flatMap(({ id }) => statements.keepingOperation.all(id)),
  ]
  const ids = new Set(gone.map(({ id }) => text(id)))
  for (const id of ids) {
    statements.emptyOperation.run(id)
    statements.emptySteps.run(id)
  }
  return [...ids]
}

/** Whether the change itself says that polls are answered from the operation, as for most that end: then it is not spent. */
function isLatest({ id, bindingId }: Operation, { instance, bindings = [] }: Change): boolean {
  const resource = bindingId === undefined ? instance : bindings.find(binding => binding.id === bindingId)
  return resource?.lastOperationId === id && resource.phase !== 'deleted'
}

function put(usual: Statement, replace: Statement, row: readonly SqlValue[]): void {
  if (usual.run(...row) === 0) replace.run(...row)
}

/** Refuses a change whose instance needs a revision that is not stored. */
function requirePins(statements: Statements, change: Change | undefined): void {
  if (change?.instance === undefined) return
  for (const id of pinsOf(change.instance)) if (statements.revision.get(id) === undefined) throw revisionGone()
}
