import { compareText } from '../../domain/catalog-state.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { CatalogChanges, RevisionUse, StoredCatalog, StoredRegistries } from '../../store.ts'
import { type CatalogOutcome, inOrder, pinsOf, sumUses, touchesCatalog } from '../pins.ts'
import type { Tables } from './tables.ts'

export interface CatalogWriting {
  readonly version: number
  readonly changes: CatalogChanges
  readonly report?: JsonObject
}

export function readCatalog(tables: Tables, known: number | undefined): StoredCatalog | undefined {
  const { version } = tables.edition()
  if (version === known) return undefined
  return inOrder({ version, services: tables.services(), revisions: tables.revisions() })
}

export function readRegistries(tables: Tables): Omit<StoredRegistries, 'now'> {
  return {
    registries: [...tables.registries()].sort((one, other) => compareText(one.name, other.name)),
    lastChange: tables.edition().lastChange,
  }
}

export function readUses(tables: Tables): readonly RevisionUse[] {
  return sumUses(uses(tables))
}

export function changeCatalog(tables: Tables, writing: CatalogWriting, now: number): CatalogOutcome {
  const { version, changes, report } = writing
  const edition = tables.edition()
  if (touchesCatalog(changes) && edition.version !== version) return { written: false, changed: false }
  // Services before revisions: one that stays needs its own.
  const done = [
    ...changes.insertRevisions.map(revision => tables.insertRevision(revision)),
    ...changes.putServices.map(service => tables.putService(service)),
    removeServices(tables, changes.deleteServices),
    removeRevisions(tables, changes.deleteRevisions),
  ]
  for (const registry of changes.putRegistries) tables.putRegistry(registry)
  for (const name of changes.deleteRegistries) tables.removeRegistry(name)
  const changed = done.includes(true)
  if (changed)
    tables.putEdition({
      ...edition,
      version: edition.version + 1,
      ...(report === undefined ? {} : { lastChange: { at: now, report } }),
    })
  return { written: true, changed }
}

function removeServices(tables: Tables, ids: readonly string[]): boolean {
  if (ids.length === 0) return false
  const used = new Set([...uses(tables)].map(({ revisionId }) => revisionId))
  const needed = new Set([...tables.allRevisions()].filter(({ id }) => used.has(id)).map(({ serviceId }) => serviceId))
  const retired = new Set(
    [...tables.allServices()].filter(({ retiredAt }) => retiredAt !== undefined).map(({ serviceId }) => serviceId),
  )
  const gone = ids.filter(id => retired.has(id) && !needed.has(id))
  for (const id of gone) tables.removeService(id)
  return gone.length > 0
}

function removeRevisions(tables: Tables, ids: readonly string[]): boolean {
  if (ids.length === 0) return false
  const needed = new Set([...uses(tables)].map(({ revisionId }) => revisionId))
  for (const { revisionId } of tables.allServices()) needed.add(revisionId)
  const stored = new Set([...tables.allRevisions()].map(({ id }) => id))
  const gone = ids.filter(id => stored.has(id) && !needed.has(id))
  for (const id of gone) tables.removeRevision(id)
  return gone.length > 0
}

function* uses(tables: Tables): Iterable<RevisionUse> {
  for (const instance of tables.allInstances())
    for (const revisionId of pinsOf(instance)) yield { revisionId, planId: instance.planId, instances: 1 }
}
