import { forgetNamesAfter, isFree, longestLease } from '../../domain/replica-name.ts'
import type { NameAnswer, NameTaking } from '../../store.ts'
import { text, toNameHolder } from '../columns.ts'
import { handBack } from './progress.ts'
import type { Statements } from './statements.ts'

export function takeName(statements: Statements, taking: NameTaking, now: number): NameAnswer {
  const { name, owner } = taking
  const row = statements.nameHolder.get(name)
  const holder = row && toNameHolder(row)
  if (holder !== undefined && !isFree(holder, taking, now)) return { taken: false, holder, now }
  statements.forgetNames.run(now - forgetNamesAfter)
  statements.putName.run(name, owner, now, now)
  const former = holder?.owner === owner ? undefined : holder?.owner
  if (former !== undefined) endLeases(statements, former, now)
  return { taken: true, former }
}

function endLeases(statements: Statements, owner: string, now: number): void {
  const latest = now + longestLease
  statements.endLeases.run(now, now, latest, owner)
  statements.endChores.run(now, owner)
  for (const { id, fence } of statements.drainedFrom.all(now, latest, owner))
    handBack(statements, { operationId: text(id), fence: Number(fence) }, now)
}
