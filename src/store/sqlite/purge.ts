import { text } from '../columns.ts'
import type { Statements } from './statements.ts'

export function purge(statements: Statements, before: number, most: number, now: number): number {
  const max = Math.max(0, most)
  const instances = statements.instanceTombstones.all(before, now, now, max)
  const bindings = statements.bindingTombstones.all(before, now, max)
  const due = [...instances, ...bindings].sort((one, other) => Number(one.deleted_at) - Number(other.deleted_at))
  const oldest = due.slice(0, max)
  for (const row of oldest) {
    if (row.instance_id === undefined) removeInstance(statements, text(row.id))
    else removeBinding(statements, text(row.instance_id), text(row.id))
  }
  return oldest.length
}

/**
 * A claim that is left only says that a deletion forgot to release it. The rows of shared resources stay as they are, so
 * nothing goes that a neighbour claims, and what nobody claims any more goes with the next one that acquires and releases.
 */
function removeInstance(statements: Statements, id: string): void {
  statements.removeOperations.run(id)
  statements.removeBindings.run(id)
  statements.removeClaims.run(id)
  statements.removeInstance.run(id)
}

function removeBinding(statements: Statements, instanceId: string, id: string): void {
  statements.removeBindingOperations.run(instanceId, id)
  statements.removeBinding.run(instanceId, id)
}
