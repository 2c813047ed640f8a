import type { CatalogChanges, CatalogState } from '../../src/domain/catalog-state.ts'

/** What a store does with changes, for tests that have none. */
export function applyCatalogChanges(state: CatalogState, changes: CatalogChanges): CatalogState {
  return {
    registries: replace(state.registries, changes.putRegistries, changes.deleteRegistries, ({ name }) => name),
    services: replace(state.services, changes.putServices, changes.deleteServices, ({ serviceId }) => serviceId),
    revisions: replace(state.revisions, changes.insertRevisions, changes.deleteRevisions, ({ id }) => id),
  }
}

function replace<Row>(
  rows: readonly Row[],
  put: readonly Row[],
  deleted: readonly string[],
  keyOf: (row: Row) => string,
): Row[] {
  const byKey = new Map([...rows, ...put].map(row => [keyOf(row), row]))
  for (const key of deleted) byKey.delete(key)
  return [...byKey.values()]
}
