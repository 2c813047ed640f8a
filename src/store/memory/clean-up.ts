import type { CleanUp, Operation } from '../../store.ts'
import type { Tables } from './tables.ts'

export function cleanUp(tables: Tables, { of, states, before, max }: CleanUp, now: number): number {
  const wanted: ReadonlySet<string> = new Set(states)
  const due: Operation[] = []
  for (const operation of tables.operations.all()) {
    if ((operation.bindingId === undefined) !== (of === 'instances')) continue
    if (!wanted.has(operation.state)) continue
    if (operation.finishedAt === undefined || operation.finishedAt > before) continue
    if ((operation.leaseUntil ?? 0) <= now && !isNeeded(tables, operation)) due.push(operation)
  }
  const oldest = due.sort((one, other) => (one.finishedAt ?? 0) - (other.finishedAt ?? 0)).slice(0, Math.max(0, max))
  for (const { id } of oldest) tables.removeOperation(id)
  return oldest.length
}

/** Polls of a resource that lives are answered from its latest operation. */
function isNeeded(tables: Tables, { id, instanceId, bindingId }: Operation): boolean {
  const row = bindingId === undefined ? tables.instances.get(instanceId) : tables.binding(instanceId, bindingId)
  return row !== undefined && row.phase !== 'deleted' && row.lastOperationId === id
}
