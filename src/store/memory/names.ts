import { forgetNamesAfter, isFree, type NameHolder } from '../../domain/replica-name.ts'
import type { NameAnswer, NameTaking } from '../../store.ts'
import { handBack } from './progress.ts'
import type { Tables } from './tables.ts'

export type NameRow = NameHolder & Pick<NameTaking, 'name'>

export function takeName(tables: Tables, taking: NameTaking, now: number): NameAnswer {
  const { name, owner } = taking
  const holder = tables.names.get(name)
  if (holder !== undefined && !isFree(holder, taking, now))
    return { taken: false, holder: { owner: holder.owner, since: holder.since, seenAt: holder.seenAt }, now }
  for (const row of [...tables.names.all()])
    if ((row.seenAt ?? row.since) < now - forgetNamesAfter) tables.names.remove(row.name)
  tables.names.put(name, { name, owner, since: now, seenAt: now })
  const former = holder?.owner === owner ? undefined : holder?.owner
  if (former !== undefined) endLeases(tables, former, now)
  return { taken: true, former }
}

export function renewName(tables: Tables, name: string, owner: string, now: number): boolean {
  const row = tables.names.get(name)
  if (row?.owner !== owner) return false
  tables.names.put(name, { ...row, seenAt: now })
  return true
}

export function releaseName(tables: Tables, name: string, owner: string, now: number): void {
  if (tables.names.get(name)?.owner === owner) tables.names.put(name, { name, owner, since: now })
}

function endLeases(tables: Tables, owner: string, now: number): void {
  for (const operation of [...tables.queue.all()]) {
    if (operation.state === 'running' && operation.leaseOwner === owner)
      tables.putOperation({ ...operation, leaseUntil: Math.min(operation.leaseUntil ?? now, now) })
    const superseded = operation.drains === undefined ? undefined : tables.operations.get(operation.drains)
    if (superseded?.leaseOwner === owner) handBack(tables, { operationId: superseded.id, fence: superseded.fence }, now)
  }
  for (const chore of [...tables.chores.all()])
    if (chore.owner === owner && chore.finishedAt === undefined)
      tables.chores.put(chore.name, { ...chore, leaseUntil: Math.min(chore.leaseUntil ?? now, now) })
}
