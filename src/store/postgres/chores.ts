import type { Store } from '../../store.ts'
import { toChore } from '../columns.ts'
import type { Calls } from './database.ts'

export function createChores({ run, statements }: Calls): Pick<Store, (`${string}Chore` & keyof Store) | 'chores'> {
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
    async chores() {
      const rows = await run(statements.chores, [])
      return { now: Number(rows[0]?.now), chores: rows.filter(row => row.name !== null).map(toChore) }
    },
  }
}
