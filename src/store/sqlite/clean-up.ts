import type { CleanUp } from '../../store.ts'
import { text } from '../columns.ts'
import type { Statements } from './statements.ts'

/** Answers the ids of those that were removed; their steps go with them. */
export function cleanUp(statements: Statements, wanted: CleanUp, now: number): readonly string[] {
  const { of, before } = wanted
  const max = Math.max(0, wanted.max)
  const spent = [...new Set(wanted.states)].flatMap(state =>
    statements.spent.all(of === 'instances' ? 1 : 0, state, before, now, max),
  )
  const oldest = spent.sort((one, other) => Number(one.spent_at) - Number(other.spent_at)).slice(0, max)
  const ids = oldest.map(row => text(row.id))
  for (const id of ids) statements.deleteOperation.run(id)
  return ids
}
