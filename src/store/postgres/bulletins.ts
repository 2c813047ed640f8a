import type { Upkeep } from '../../store.ts'
import { toBulletin } from '../columns.ts'
import type { Calls } from './database.ts'

export function createBulletins({ run, statements }: Calls): Pick<Upkeep, 'putBulletin' | 'bulletins'> {
  return {
    async putBulletin({ kind, key, doc, keepFor }) {
      await run(statements.putBulletin, [kind, key, keepFor, JSON.stringify(doc)])
    },
    async bulletins(kind) {
      const rows = await run(statements.bulletins, [kind])
      return { now: Number(rows[0]?.now), bulletins: rows.filter(row => row.key !== null).map(toBulletin) }
    },
  }
}
