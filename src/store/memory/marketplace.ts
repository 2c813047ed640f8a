import { compareText } from '../../domain/catalog-state.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type {
  CatalogChanges,
  RegisteredService,
  Revision,
  RevisionUse,
  StoredCatalog,
  StoredRegistries,
} from '../../store.ts'
import { type CatalogOutcome, inOrder, pinsOf, sumUses, touchesCatalog } from '../pins.ts'
import type { CatalogEdition, Tables } from './tables.ts'

export interface CatalogWriting {
  readonly version: number
  readonly changes: CatalogChanges
  readonly report?: JsonObject
}

export function readCatalog(tables: Tables, known: number | undefined): StoredCatalog | undefined {
  const { version } = editionOf(tables)
  if (version === known) return undefined
  return inOrder({ version, services: [...tables.services.all()], revisions: [...tables.revisions.all()] })
}

export function readRegistries(tables: Tables): Omit<StoredRegistries, 'now'> {
  return {
    registries: [...tables.registries.all()].sort((one, other) => compareText(one.name, other.name)),
    lastChange: editionOf(tables).lastChange,
  }
}

export function readUses(tables: Tables): readonly RevisionUse[] {
  return sumUses(uses(tables))
}

export function changeCatalog(tables: Tables, writing: CatalogWriting, now: number): CatalogOutcome {
  const { version, changes, report } = writing
  const edition = editionOf(tables)
  if (touchesCatalog(changes) && edition.version !== version) return { written: false, changed: false }
  // Services before revisions: one that stays needs its own.
  const done = [
    ...changes.insertRevisions.map(revision => insertRevision(tables, revision)),
    ...changes.putServices.map(service => putService(tables, service)),
    removeServices(tables, changes.deleteServices),
    removeRevisions(tables, changes.deleteRevisions),
  ]
  for (const registry of changes.putRegistries) tables.registries.put(registry.name, registry)
  for (const name of changes.deleteRegistries) tables.registries.remove(name)
  const changed = done.includes(true)
  const lastChange = report === undefined ? edition.lastChange : { at: now, report }
  if (changed) tables.editions.put(latest, { version: edition.version + 1, lastChange })
  return { written: true, changed }
}

/** False where it is there: a revision never changes. */
function insertRevision({ revisions }: Tables, revision: Revision): boolean {
  if (revisions.has(revision.id)) return false
  revisions.put(revision.id, revision)
  return true
}

/** False where it says the same already. */
function putService({ revisions, services }: Tables, service: RegisteredService): boolean {
  const { serviceId, revisionId } = service
  if (!revisions.has(revisionId))
    throw new Error(`service ${serviceId} cannot be written: there is no revision ${revisionId}`)
  if (JSON.stringify(services.get(serviceId)) === JSON.stringify(service)) return false
  services.put(serviceId, service)
  return true
}

function removeServices(tables: Tables, ids: readonly string[]): boolean {
  if (ids.length === 0) return false
  const used = new Set([...uses(tables)].map(({ revisionId }) => revisionId))
  const needed = new Set([...tables.revisions.all()].filter(({ id }) => used.has(id)).map(({ serviceId }) => serviceId))
  const gone = ids.filter(id => tables.services.get(id)?.retiredAt !== undefined && !needed.has(id))
  for (const id of gone) tables.services.remove(id)
  return gone.length > 0
}

function removeRevisions(tables: Tables, ids: readonly string[]): boolean {
  if (ids.length === 0) return false
  const needed = new Set([...uses(tables)].map(({ revisionId }) => revisionId))
  for (const { revisionId } of tables.services.all()) needed.add(revisionId)
  const gone = ids.filter(id => tables.revisions.has(id) && !needed.has(id))
  for (const id of gone) tables.revisions.remove(id)
  return gone.length > 0
}

/** The key of the one row of its table. */
export const latest = 'catalog'

function editionOf({ editions }: Tables): CatalogEdition {
  return editions.get(latest) ?? { version: 0 }
}

function* uses(tables: Tables): Iterable<RevisionUse> {
  for (const instance of tables.instances.all())
    for (const revisionId of pinsOf(instance)) yield { revisionId, planId: instance.planId, instances: 1 }
}
