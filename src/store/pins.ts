/** What the stores do alike with revisions, and with the instances that are pinned to them. */
import { compareText } from '../domain/catalog-state.ts'
import {
  type CatalogChanges,
  type Instance,
  RevisionGoneError,
  type RevisionUse,
  type StoredCatalog,
} from '../store.ts'

/** What a call of changeCatalog did. `written` is its answer; `changed`: the catalog has a new version. */
export interface CatalogOutcome {
  readonly written: boolean
  readonly changed: boolean
}

/** Whether the changes are about a service or a revision: those were decided from a version of the catalog. */
export function touchesCatalog(changes: CatalogChanges): boolean {
  const { insertRevisions, putServices, deleteServices, deleteRevisions } = changes
  return insertRevisions.length + putServices.length + deleteServices.length + deleteRevisions.length > 0
}

/** The revisions that an instance needs: what it is pinned to, and what it is being updated to. */
export function pinsOf({ revisionId, nextRevisionId }: Pick<Instance, 'revisionId' | 'nextRevisionId'>): string[] {
  return [...new Set([revisionId, nextRevisionId].filter(id => id !== undefined))]
}

export function revisionGone(): RevisionGoneError {
  return new RevisionGoneError(
    'the revision that the instance was to be pinned to is not stored: read the catalog again',
  )
}

/** In one order, whatever the collation of a database is. */
export function inOrder({ version, services, revisions }: StoredCatalog): StoredCatalog {
  return {
    version,
    services: [...services].sort((a, b) => compareText(a.serviceId, b.serviceId)),
    revisions: [...revisions].sort((a, b) => compareText(a.id, b.id)),
  }
}

/** One row for each revision and plan. */
export function sumUses(uses: Iterable<RevisionUse>): RevisionUse[] {
  const sums = new Map<string, RevisionUse>()
  for (const { revisionId, planId, instances } of uses) {
    const key = JSON.stringify([revisionId, planId])
    sums.set(key, { revisionId, planId, instances: (sums.get(key)?.instances ?? 0) + instances })
  }
  return [...sums.values()].sort((a, b) => compareText(a.revisionId, b.revisionId) || compareText(a.planId, b.planId))
}
