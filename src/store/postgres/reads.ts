import type { Binding, HistoryEvent, Instance } from '../../store.ts'
import { text, toOperation } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { RowReads } from '../methods.ts'
import type { Calls } from './database.ts'
import type { SqlRow, SqlValue } from './driver.ts'
import { toResource, toStep } from './rows.ts'
import type { Statement } from './statements.ts'

export function createReads({ run, statements }: Calls): RowReads {
  async function all<Row>(statement: Statement, values: readonly SqlValue[], convert: (row: SqlRow) => Row) {
    return (await run(statement, values)).map(({ row }) => convert(row as SqlRow))
  }
  async function one<Row>(statement: Statement, values: readonly SqlValue[], convert: (row: SqlRow) => Row) {
    return (await all(statement, values, convert))[0]
  }

  return {
    instance: id => one(statements.instance, [keyOf(id)], toResource<Instance>),
    binding: (instanceId, id) => one(statements.binding, [keyOf(instanceId), keyOf(id)], toResource<Binding>),
    bindings: instanceId => all(statements.bindings, [keyOf(instanceId)], toResource<Binding>),
    operation: id => one(statements.operation, [keyOf(id)], row => toOperation(row)),
    steps: operationId => all(statements.steps, [keyOf(operationId)], toStep),
    async history(instanceId) {
      const rows = await run(statements.history, [keyOf(instanceId)])
      return rows.map((row): HistoryEvent => JSON.parse(text(row.doc)))
    },
    async backlog(most) {
      const [row] = await run(statements.backlog, [most])
      const { now, due_since: dueSince, due, running } = row ?? {}
      return {
        now: Number(now),
        due: Number(due),
        dueSince: typeof dueSince === 'number' ? dueSince : undefined,
        running: Number(running),
      }
    },
    async dueForObservation(max) {
      const rows = await run(statements.dueForObservation, [Math.max(0, max)])
      return rows.map(row => text(JSON.parse(text(row.doc)).id))
    },
  }
}
