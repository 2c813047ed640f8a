import { compareText } from '../../domain/catalog-state.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { CatalogChanges, RegistryState, RevisionUse, StoredCatalog, StoredRegistries } from '../../store.ts'
import { text, toUse } from '../columns.ts'
import { type CatalogOutcome, inOrder, sumUses, touchesCatalog } from '../pins.ts'
import type { SqlRow } from './driver.ts'
import type { Calls, Statements } from './statements.ts'

export function readCatalog(statements: Statements, known: number | undefined): StoredCatalog | undefined {
  const version = Number(statements.catalog.get()?.version)
  if (version === known) return undefined
  return inOrder({
    version,
    services: statements.services.all().map(fromDoc),
    revisions: statements.revisions.all().map(fromDoc),
  })
}

export function readRegistries(statements: Statements): Omit<StoredRegistries, 'now'> {
  const { changed_at: at, report } = statements.catalog.get() ?? {}
  const registries: RegistryState[] = statements.registries.all().map(fromDoc)
  return {
    registries: registries.sort((a, b) => compareText(a.name, b.name)),
    lastChange: typeof report === 'string' ? { at: Number(at), report: JSON.parse(report) } : undefined,
  }
}

export function readUses(statements: Statements): readonly RevisionUse[] {
  return sumUses([...statements.uses.all(), ...statements.nextUses.all()].map(toUse))
}

export function changeCatalog(
  { statements, clock }: Calls,
  version: number,
  changes: CatalogChanges,
  report: JsonObject | undefined,
): CatalogOutcome {
  if (touchesCatalog(changes) && Number(statements.catalog.get()?.version) !== version)
    return { written: false, changed: false }
  let rows = 0
  for (const revision of changes.insertRevisions)
    rows += statements.insertRevision.run(revision.id, revision.serviceId, JSON.stringify(revision))
  for (const service of changes.putServices) {
    const { serviceId, revisionId, retiredAt = null } = service
    rows += statements.putService.run(serviceId, revisionId, retiredAt, JSON.stringify(service))
  }
  // Services before revisions: one that stays needs its own.
  for (const id of changes.deleteServices) rows += statements.deleteService.run(id)
  for (const id of changes.deleteRevisions) rows += statements.deleteRevision.run(id)
  for (const registry of changes.putRegistries) statements.putRegistry.run(registry.name, JSON.stringify(registry))
  for (const name of changes.deleteRegistries) statements.deleteRegistry.run(name)
  if (rows === 0) return { written: true, changed: false }
  statements.raiseCatalog.run()
  if (report !== undefined) statements.reportCatalog.run(clock.now(), JSON.stringify(report))
  return { written: true, changed: true }
}

function fromDoc(row: SqlRow) {
  return JSON.parse(text(row.doc))
}
