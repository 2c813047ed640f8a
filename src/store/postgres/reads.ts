import type { HistoryEvent, Reads } from '../../store.ts'
import { text } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { Calls } from './database.ts'
import type { SqlRow, SqlValue } from './driver.ts'
import { toBinding, toInstance, toOperation, toStep } from './rows.ts'
import type { Statement } from './statements.ts'

export function createReads({ run, statements }: Calls): Omit<Reads, `list${string}`> {
  async function all<Row>(statement: Statement, values: readonly SqlValue[], convert: (row: SqlRow) => Row) {
    return (await run(statement, values)).map(({ row }) => convert(row as SqlRow))
  }
  async function one<Row>(statement: Statement, values: readonly SqlValue[], convert: (row: SqlRow) => Row) {
    return (await all(statement, values, convert))[0]
  }

  return {
    instance: id => one(statements.instance, [keyOf(id)], toInstance),
    binding: (instanceId, id) => one(statements.binding, [keyOf(instanceId), keyOf(id)], toBinding),
    bindings: instanceId => all(statements.bindings, [keyOf(instanceId)], toBinding),
    operation: id => one(statements.operation, [keyOf(id)], toOperation),
    steps: operationId => all(statements.steps, [keyOf(operationId)], toStep),
    async history(instanceId) {
      const rows = await run(statements.history, [keyOf(instanceId)])
      return rows.map((row): HistoryEvent => JSON.parse(text(row.doc)))
    },
  }
}

export async function readDueForObservation({ run, statements }: Calls, max: number): Promise<readonly string[]> {
  const rows = await run(statements.dueForObservation, [Math.max(0, max)])
  return rows.map(row => text(JSON.parse(text(row.doc)).id))
}
