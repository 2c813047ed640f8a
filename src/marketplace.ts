/** The marketplace: services and revisions that came from registries, and the instances that need them. */
import type { CatalogChanges, RegisteredService, RegistryState } from './domain/catalog-state.ts'
import type { Revision } from './domain/revision.ts'
import type { JsonObject } from './protocol/json.ts'

/** What came from registries, by service id and by revision id. */
export interface StoredCatalog {
  /** Rises with every change of a service or a revision. */
  readonly version: number
  readonly services: readonly RegisteredService[]
  readonly revisions: readonly Revision[]
}

/** How many instances of one plan need a revision: pinned to it, or being updated to it (`nextRevisionId`). */
export interface RevisionUse {
  readonly revisionId: string
  readonly planId: string
  readonly instances: number
}

/** Every registry that was ever asked, by name, the latest report of a change, and the store's clock. */
export interface StoredRegistries {
  readonly now: number
  readonly registries: readonly RegistryState[]
  readonly lastChange?: { readonly at: number; readonly report: JsonObject }
}

export interface Marketplace {
  /** Everything that came from registries; undefined where `known` is the version that it still has. */
  catalog(known?: number): Promise<StoredCatalog | undefined>
  registries(): Promise<StoredRegistries>
  /** The uses of every revision, by instances that are not deleted, and those whose deletion is still swept. */
  revisionUses(): Promise<readonly RevisionUse[]>
  /**
   * Writes what was decided from the catalog of that version; false where it has another one by now, and nothing is
   * written. (Changes of registries alone are written whatever the version is.) A revision that an
   * instance needs at that moment is not deleted, nor the current one of a service that stays, and neither is a service
   * that has a revision in use or is not retired: they stay for the next run. Throws where a service would have a
   * revision that is not stored. Where a service or a revision changed, the version rises, `report` is kept with the
   * store's time, and every replica is woken.
   */
  changeCatalog(version: number, changes: CatalogChanges, report?: JsonObject): Promise<boolean>
}
