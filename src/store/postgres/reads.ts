import { text, toExpiring, toOperation } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { RowReads } from '../methods.ts'
import { type Sealer, toEvent } from '../sealing.ts'
import { listed } from './claim.ts'
import type { Calls } from './database.ts'
import type { SqlRow, SqlValue } from './driver.ts'
import { toBinding, toInstance, toStep } from './rows.ts'
import type { Statement } from './statements.ts'

export function createReads({ run, statements, sealer }: Calls): RowReads {
  type Convert<Row> = (sealer: Sealer, row: SqlRow) => Row
  async function all<Row>(statement: Statement, values: readonly SqlValue[], convert: Convert<Row>) {
    return (await run(statement, values)).map(({ row }) => convert(sealer, row as SqlRow))
  }
  async function one<Row>(statement: Statement, values: readonly SqlValue[], convert: Convert<Row>) {
    return (await all(statement, values, convert))[0]
  }

  return {
    instance: id => one(statements.instance, [keyOf(id)], toInstance),
    binding: (instanceId, id) => one(statements.binding, [keyOf(instanceId), keyOf(id)], toBinding),
    bindings: instanceId => all(statements.bindings, [keyOf(instanceId)], toBinding),
    claimants: async (key, most) => (await run(statements.claimants, [keyOf(key), Math.max(0, most)])).map(idOf),
    operation: id => one(statements.operation, [keyOf(id)], (of, row) => toOperation(of, row)),
    steps: operationId => all(statements.steps, [keyOf(operationId)], toStep),
    async history(instanceId) {
      const key = keyOf(instanceId)
      const rows = await run(statements.history, [key])
      return rows.map(row => toEvent(sealer, key, text(row.doc)))
    },
    async backlog(most, leftOut) {
      const [row] =
        leftOut === undefined
          ? await run(statements.backlog, [most])
          : await run(statements.backlogOfOthers, [most, ...listed(leftOut)])
      const { now, due_since: dueSince, due, running } = row ?? {}
      return {
        now: Number(now),
        due: Number(due),
        dueSince: typeof dueSince === 'number' ? dueSince : undefined,
        running: Number(running),
      }
    },
    dueForExpiry: async max => (await run(statements.dueForExpiry, [Math.max(0, max)])).map(toExpiring),
    async dueForObservation(max) {
      return (await run(statements.dueForObservation, [Math.max(0, max)])).map(idOf)
    },
  }
}

function idOf({ doc }: SqlRow): string {
  return text(JSON.parse(text(doc)).id)
}
