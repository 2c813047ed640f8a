import type { Store } from '../../store.ts'
import { text, toChore } from '../columns.ts'
import type { Calls } from './database.ts'

type Upkeep = 'takeChore' | 'renewChore' | 'finishChore' | 'chores' | 'cleanUp' | 'purge' | 'dueForObservation'

/** Chores, and what they do. */
export function createUpkeep({ run, statements }: Calls): Pick<Store, Upkeep> {
  return {
    async takeChore({ name, dueAt, owner, leaseTime }) {
      const [row] = await run(statements.takeChore, [name, dueAt, owner, leaseTime])
      return row && { name, fence: Number(row.fence) }
    },
    async renewChore({ name, fence }, leaseTime) {
      return (await run(statements.renewChore, [name, fence, leaseTime])).length > 0
    },
    async finishChore({ name, fence }, result) {
      return (await run(statements.finishChore, [name, fence, JSON.stringify(result)])).length > 0
    },
    /** One row for each chore; a single one without a name where there is none. */
    async chores() {
      const rows = await run(statements.chores, [])
      return { now: Number(rows[0]?.now), chores: rows.filter(row => row.name !== null).map(toChore) }
    },
    async cleanUp({ of, states, before, max }) {
      const [row] = await run(statements.cleanUp, [of, states, before, Math.max(0, max)])
      return Number(row?.removed)
    },
    async purge(before, max) {
      const [row] = await run(statements.purge, [before, Math.max(0, max)])
      return Number(row?.removed)
    },
    async dueForObservation(max) {
      const rows = await run(statements.dueForObservation, [Math.max(0, max)])
      return rows.map(row => text(JSON.parse(text(row.doc)).id))
    },
  }
}
