import { byKind, exportedAtOnce, type ImportProgress, type LedgerRow, type Moving, rowsOf } from '../../moving.ts'
import { latest } from './marketplace.ts'
import { pair, type Tables } from './tables.ts'

type Run = <Result>(body: () => Result) => Promise<Result>

/** Rows are values: those of one turn stay what they were, whatever is written later. */
export function createMoving(tables: Tables, run: Run): Moving {
  let progress: ImportProgress | undefined
  return {
    async exportRows(take) {
      const rows = await run(() => allRows(tables))
      for (let first = 0; first < rows.length; first += exportedAtOnce)
        await take(rows.slice(first, first + exportedAtOnce), rows.length)
    },
    importState: () => run(() => ({ empty: tables.isEmpty(), progress })),
    importRows: (rows, reached) =>
      run(() => {
        write(tables, rows)
        progress = reached
      }),
  }
}

function allRows(tables: Tables): readonly LedgerRow[] {
  const { version: catalogVersion = 0, lastChange } = tables.editions.get(latest) ?? {}
  const { steps, claims, events } = tables.belongings()
  return [
    ...rowsOf('ledger', [{ fence: tables.fence, catalogVersion, lastChange }]),
    ...rowsOf('revision', [...tables.revisions.all()]),
    ...rowsOf('service', [...tables.services.all()]),
    ...rowsOf('registry', [...tables.registries.all()]),
    ...rowsOf('instance', [...tables.instances.all()]),
    ...rowsOf('binding', [...tables.bindings.all()]),
    ...rowsOf('operation', [...tables.operations.all()]),
    ...rowsOf('step', steps),
    ...rowsOf('shared', [...tables.shared.all()]),
    ...rowsOf('claim', claims),
    ...rowsOf('chore', [...tables.chores.all()]),
    ...rowsOf('history', events),
    ...rowsOf('note', [...tables.notes.all()]),
  ]
}

function write(tables: Tables, rows: readonly LedgerRow[]): void {
  const of = byKind(rows)
  for (const { fence, catalogVersion: version, lastChange } of of.ledger) {
    tables.raiseFence(fence)
    tables.editions.put(latest, { version, lastChange })
  }
  for (const row of of.revision) tables.revisions.put(row.id, row)
  for (const row of of.service) tables.services.put(row.serviceId, row)
  for (const row of of.registry) tables.registries.put(row.name, row)
  for (const instance of of.instance) tables.apply({ instance })
  tables.apply({ bindings: of.binding, operations: of.operation })
  for (const { link, ...event } of of.history) tables.putEvent(event, link)
  for (const { operationId, ...step } of of.step) tables.putStep(operationId, step)
  for (const row of of.shared) tables.shared.put(row.key, row)
  for (const { key, instanceId } of of.claim) tables.putClaim(key, instanceId, true)
  for (const row of of.chore) tables.chores.put(row.name, row)
  for (const row of of.note) tables.notes.put(pair(row.kind, row.id), row)
}
