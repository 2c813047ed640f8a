import type { Binding, HistoryEvent, Instance, Operation, Step } from '../../store.ts'
import { text } from '../columns.ts'
import type { SqlRow } from './driver.ts'
import { bindingKey, instanceKey, operationKey, type RowCache } from './row-cache.ts'
import { toHistory, toOperation, toRow } from './rows.ts'
import type { Statements } from './statements.ts'

export function readBinding(statements: Statements, instanceId: string, id: string): Binding | undefined {
  const row = statements.binding.get(instanceId, id)
  return row === undefined ? undefined : toRow<Binding>(row.doc, row.sealed)
}

export function readSteps(statements: Statements, operationId: string): Step[] {
  return statements.steps.all(operationId).map(row => toRow<Step>(row.doc, row.sealed))
}

/** Platforms poll the same rows again and again: one that is known needs no round through the database. */
export function createReads(statements: Statements, cache: RowCache) {
  function cached<Row extends object>(key: string, read: () => SqlRow | undefined, convert: (row: SqlRow) => Row) {
    const known = cache.get<Row>(key)
    if (known !== undefined) return known
    const found = read()
    if (found === undefined) return undefined
    const row = convert(found)
    cache.put(key, row, text(found.doc).length + text(found.sealed).length)
    return row
  }

  return {
    instance: (id: string) =>
      cached(
        instanceKey(id),
        () => statements.instance.get(id),
        row => toRow<Instance>(row.doc, row.sealed),
      ),
    binding: (instanceId: string, id: string) =>
      cached(
        bindingKey(instanceId, id),
        () => statements.binding.get(instanceId, id),
        row => toRow<Binding>(row.doc, row.sealed),
      ),
    bindings: (instanceId: string): Binding[] =>
      statements.bindings.all(instanceId).map(row => toRow<Binding>(row.doc, row.sealed)),
    operation: (id: string): Operation | undefined =>
      cached(operationKey(id), () => statements.operation.get(id), toOperation),
    steps: (operationId: string) => readSteps(statements, operationId),
    history: (instanceId: string): HistoryEvent[] => statements.history.all(instanceId).map(toHistory),
    dueForObservation: (max: number, now: number): string[] =>
      statements.dueForObservation.all(now, Math.max(0, max)).map(row => text(row.id)),
  }
}
