import type { Binding, Change, Instance, Operation, Snapshot, Target, WakeUp } from '../../store.ts'
import { wakeUpsOf } from '../wake-ups.ts'
import { fromBinding, fromHistory, fromInstance, fromOperation, toOperation, toRow } from './rows.ts'
import type { Statements } from './statements.ts'

/** `held` is an operation of the target that is known to be the active one: it is not read again. */
export function readSnapshot(statements: Statements, now: number, target: Target, held?: Operation): Snapshot {
  const { instanceId, bindingId, predecessorId } = target
  const row = statements.snapshot.get(instanceId)
  // Bindings and operations refer to their instance: without it there are none.
  if (row === undefined) return { now, liveBindings: 0, busyBindings: 0 }
  const active = (id?: string) =>
    held !== undefined && held.bindingId === id ? held : readActive(statements, instanceId, id)
  const operation = active()
  const binding = bindingId === undefined ? undefined : readBinding(statements, instanceId, bindingId)
  const bindingOperation = bindingId === undefined ? undefined : active(bindingId)
  const predecessor = predecessorId === undefined ? undefined : readBinding(statements, instanceId, predecessorId)
  return {
    now,
    instance: toRow<Instance>(row.doc, row.sealed),
    ...(operation === undefined ? {} : { operation }),
    ...(binding === undefined ? {} : { binding }),
    ...(bindingOperation === undefined ? {} : { bindingOperation }),
    ...(predecessor === undefined ? {} : { predecessor }),
    liveBindings: Number(row.live),
    busyBindings: Number(row.busy),
  }
}

export function readBinding(statements: Statements, instanceId: string, id: string): Binding | undefined {
  const row = statements.binding.get(instanceId, id)
  return row === undefined ? undefined : toRow<Binding>(row.doc, row.sealed)
}

export function applyChange(statements: Statements, change: Change, wake: WakeUp[]): void {
  if (change.instance !== undefined) statements.putInstance.run(...fromInstance(change.instance))
  for (const binding of change.bindings ?? []) statements.putBinding.run(...fromBinding(binding))
  for (const operation of change.operations ?? []) {
    statements.putOperation.run(...fromOperation(operation))
    if (operation.finishedAt !== undefined) statements.spendOperation.run(operation.id)
  }
  for (const id of change.forget ?? []) statements.forgetOperation.run(id)
  for (const event of change.history ?? []) statements.appendHistory.run(...fromHistory(event))
  wake.push(...wakeUpsOf(change))
}

function readActive(statements: Statements, instanceId: string, bindingId = ''): Operation | undefined {
  const row = statements.activeOperation.get(instanceId, bindingId)
  return row === undefined ? undefined : toOperation(row)
}
