import { compareText } from '../../domain/catalog-state.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { CatalogChanges, RegistryState, Revision, Store } from '../../store.ts'
import { text, toUse } from '../columns.ts'
import { type CatalogOutcome, inOrder, sumUses, touchesCatalog } from '../pins.ts'
import type { Calls, Database } from './database.ts'

export function createCatalogReads({ run, statements }: Calls): Pick<Store, 'catalog' | 'registries' | 'revisionUses'> {
  return {
    /** One row for the version, and one for each service and each revision; none where the version is known. */
    async catalog(known) {
      const rows = await run(statements.catalog, [known ?? null])
      const [first] = rows
      const docsOf = (kind: string) => rows.filter(row => row.kind === kind).map(row => JSON.parse(text(row.doc)))
      return (
        first && inOrder({ version: Number(first.version), services: docsOf('service'), revisions: docsOf('revision') })
      )
    },
    /** One row for each registry; a single one without any where there is none. */
    async registries() {
      const rows = await run(statements.registries, [])
      const { now, changed_at: at, report } = rows[0] ?? {}
      const registries = rows.flatMap((row): RegistryState[] => (row.doc === null ? [] : [JSON.parse(text(row.doc))]))
      return {
        now: Number(now),
        registries: registries.sort((a, b) => compareText(a.name, b.name)),
        lastChange: typeof report === 'string' ? { at: Number(at), report: JSON.parse(report) } : undefined,
      }
    },
    async revisionUses() {
      return sumUses((await run(statements.revisionUses, [])).map(toUse))
    },
  }
}

/** A transaction of several statements: revisions may be large, and a single value of PostgreSQL is not. */
export async function changeCatalog(
  { transaction, statements }: Pick<Database, 'transaction'> & Pick<Calls, 'statements'>,
  version: number,
  changes: CatalogChanges,
  report: JsonObject | undefined,
): Promise<CatalogOutcome> {
  try {
    return await transaction(async run => {
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
