import { longestLease } from '../../domain/replica-name.ts'
import type { Binding, Step } from '../../store.ts'
import { text, toExpiring } from '../columns.ts'
import { freeze } from '../freeze.ts'
import type { RowReads } from '../methods.ts'
import { type Sealer, toEvent } from '../sealing.ts'
import type { SqlRow } from './driver.ts'
import { bindingKey, type RowCache, type Rows } from './row-cache.ts'
import { toBinding, toInstance, toOperation, toStep } from './rows.ts'
import { type Calls, listed } from './statements.ts'

export function readBinding({ statements, sealer }: Calls, instanceId: string, id: string): Binding | undefined {
  const row = statements.binding.get(instanceId, id)
  return row && toBinding(sealer, row)
}

export function readSteps({ statements, sealer }: Calls, operationId: string): Step[] {
  return statements.steps.all(operationId).map(row => toStep(sealer, row))
}

/** Platforms poll the same rows again and again: one that is known needs no round through the database. */
export function createReads(calls: Calls, cache: RowCache): RowReads {
  const { statements, sealer, clock } = calls
  function remember<Row extends object>(
    rows: Rows<Row>,
    key: string,
    found: SqlRow | undefined,
    convert: (sealer: Sealer, row: SqlRow) => Row,
  ) {
    if (found === undefined) return undefined
    const row = freeze(convert(sealer, found))
    rows.put(key, row, text(found.doc).length + text(found.sealed).length)
    return row
  }

  const { instances, operations, bindings } = cache
  return {
    instance: id => instances.get(id) ?? remember(instances, id, statements.instance.get(id), toInstance),
    binding(instanceId, id) {
      const key = bindingKey(instanceId, id)
      return bindings.get(key) ?? remember(bindings, key, statements.binding.get(instanceId, id), toBinding)
    },
    bindings: instanceId => statements.bindings.all(instanceId).map(row => toBinding(sealer, row)),
    claimants: (key, most) => statements.claimants.all(key, Math.max(0, most)).map(row => text(row.id)),
    operation: id => operations.get(id) ?? remember(operations, id, statements.operation.get(id), toOperation),
    steps: operationId => readSteps(calls, operationId),
    history: instanceId =>
      statements.history.all(instanceId, instanceId).map(row => toEvent(sealer, instanceId, text(row.doc))),
    backlog(most, leftOut) {
      const now = clock.now()
      const [statement, others] =
        leftOut === undefined ? [statements.backlog, []] : [statements.backlogOfOthers, listed(leftOut)]
      const latest = now + longestLease
      const row = statement.get(now, ...others, now, ...others, most, now, latest, ...others, most)
      const dueSince = row?.due_since ?? undefined
      return {
        now,
        due: Number(row?.due),
        dueSince: dueSince === undefined ? undefined : Number(dueSince),
        running: Number(row?.running),
      }
    },
    dueForExpiry: max => statements.dueForExpiry.all(clock.now(), Math.max(0, max)).map(toExpiring),
    dueForObservation: max => statements.dueForObservation.all(clock.now(), Math.max(0, max)).map(row => text(row.id)),
  }
}
