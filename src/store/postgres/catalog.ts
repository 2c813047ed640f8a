import { compareText } from '../../domain/catalog-state.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { CatalogChanges, RegistryState, Revision, RevisionUse, StoredCatalog } from '../../store.ts'
import { type CatalogOutcome, inOrder, sumUses, touchesCatalog } from '../catalog.ts'
import { text } from '../columns.ts'
import type { Database } from './database.ts'
import type { SqlRow } from './driver.ts'
import type { Statements } from './statements.ts'

/** One row for the version, and one for each service and each revision; none where the version is known. */
export function toCatalog(rows: readonly SqlRow[]): StoredCatalog | undefined {
  const [first] = rows
  if (first === undefined) return undefined
  return inOrder({
    version: Number(first.version),
    services: rows.flatMap(row => (row.kind === 'service' ? [JSON.parse(text(row.doc))] : [])),
    revisions: rows.flatMap(row => (row.kind === 'revision' ? [JSON.parse(text(row.doc))] : [])),
  })
}

/** One row for each registry; a single one without any where there is none. */
export function toRegistries(rows: readonly SqlRow[]): {
  readonly now: number
  readonly registries: readonly RegistryState[]
  readonly lastChange?: { readonly at: number; readonly report: JsonObject }
} {
  const { now, changed_at: at, report } = rows[0] ?? {}
  const registries = rows.flatMap((row): RegistryState[] => (row.doc === null ? [] : [JSON.parse(text(row.doc))]))
  return {
    now: Number(now),
    registries: registries.sort((a, b) => compareText(a.name, b.name)),
    ...(typeof report === 'string' ? { lastChange: { at: Number(at), report: JSON.parse(report) } } : {}),
  }
}

export function toUses(rows: readonly SqlRow[]): readonly RevisionUse[] {
  return sumUses(
    rows.map(row => ({
      revisionId: text(row.revision_id),
      planId: JSON.parse(text(row.pinned_plan)),
      instances: Number(row.instances),
    })),
  )
}

/** A transaction of several statements: revisions may be large, and a single value of PostgreSQL is not. */
export async function changeCatalog(
  database: Database,
  statements: Statements,
  version: number,
  changes: CatalogChanges,
  report: JsonObject | undefined,
): Promise<CatalogOutcome> {
  try {
    return await database.transaction(async run => {
      let inserted = 0
      for (const chunk of chunksOf(changes.insertRevisions)) {
        const [row] = await run(statements.insertRevisions, [JSON.stringify(chunk)])
        inserted += Number(row?.inserted)
      }
      const [row] = await run(statements.changeCatalog, [
        version,
        touchesCatalog(changes),
        inserted,
        JSON.stringify(changes.putServices.map(toServiceRow)),
        changes.deleteServices,
        changes.deleteRevisions,
        JSON.stringify(changes.putRegistries.map(registry => ({ name: registry.name, doc: JSON.stringify(registry) }))),
        changes.deleteRegistries,
        report === undefined ? null : JSON.stringify(report),
      ])
      if (row?.written !== true) throw new StaleVersion()
      return { written: true, changed: row.changed === true }
    })
  } catch (error) {
    if (error instanceof StaleVersion) return { written: false, changed: false }
    throw error
  }
}

/** Takes the inserts back. */
class StaleVersion extends Error {}

/** By their ids, so that two who insert the same wait for each other in one direction only. */
function* chunksOf(revisions: readonly Revision[]): Iterable<readonly object[]> {
  let chunk: object[] = []
  let size = 0
  for (const revision of [...revisions].sort((a, b) => compareText(a.id, b.id))) {
    const doc = JSON.stringify(revision)
    chunk.push({ id: revision.id, service_id: revision.serviceId, doc })
    size += doc.length
    if (size < largestChunk) continue
    yield chunk
    chunk = []
    size = 0
  }
  if (chunk.length > 0) yield chunk
}

/** In characters: far below what one message may hold, far above what is worth a round trip. */
const largestChunk = 4 * 1024 * 1024

function toServiceRow(service: CatalogChanges['putServices'][number]): object {
  const { serviceId, revisionId, retiredAt } = service
  return { id: serviceId, revision_id: revisionId, retired: retiredAt !== undefined, doc: JSON.stringify(service) }
}
