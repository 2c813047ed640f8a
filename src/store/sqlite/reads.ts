import type { Clock } from '../../clock.ts'
import { longestLease } from '../../domain/replica-name.ts'
import type { Binding, Instance, Step } from '../../store.ts'
import { text } from '../columns.ts'
import { freeze } from '../freeze.ts'
import type { RowReads } from '../methods.ts'
import type { SqlRow } from './driver.ts'
import { bindingKey, type RowCache, type Rows } from './row-cache.ts'
import { toOperation, toRow } from './rows.ts'
import type { Statements } from './statements.ts'

export function readBinding(statements: Statements, instanceId: string, id: string): Binding | undefined {
  const row = statements.binding.get(instanceId, id)
  return row && toRow<Binding>(row)
}

export function readSteps(statements: Statements, operationId: string): Step[] {
  return statements.steps.all(operationId).map(row => toRow<Step>(row))
}

/** Platforms poll the same rows again and again: one that is known needs no round through the database. */
export function createReads(statements: Statements, cache: RowCache, clock: Clock): RowReads {
  function remember<Row extends object>(
    rows: Rows<Row>,
    key: string,
    found: SqlRow | undefined,
    convert: (row: SqlRow) => Row,
  ) {
    if (found === undefined) return undefined
    const row = freeze(convert(found))
    rows.put(key, row, text(found.doc).length + text(found.sealed).length)
    return row
  }

  const { instances, operations, bindings } = cache
  return {
    instance: id => instances.get(id) ?? remember(instances, id, statements.instance.get(id), toRow<Instance>),
    binding(instanceId, id) {
      const key = bindingKey(instanceId, id)
      return bindings.get(key) ?? remember(bindings, key, statements.binding.get(instanceId, id), toRow<Binding>)
    },
    bindings: instanceId => statements.bindings.all(instanceId).map(row => toRow<Binding>(row)),
    operation: id => operations.get(id) ?? remember(operations, id, statements.operation.get(id), toOperation),
    steps: operationId => readSteps(statements, operationId),
    history: instanceId => statements.history.all(instanceId).map(row => JSON.parse(text(row.doc))),
    backlog(most) {
      const now = clock.now()
      const row = statements.backlog.get(now, now, most, now, now + longestLease, most)
      const dueSince = row?.due_since ?? undefined
      return {
        now,
        due: Number(row?.due),
        dueSince: dueSince === undefined ? undefined : Number(dueSince),
        running: Number(row?.running),
      }
    },
    dueForObservation: max => statements.dueForObservation.all(clock.now(), Math.max(0, max)).map(row => text(row.id)),
  }
}
