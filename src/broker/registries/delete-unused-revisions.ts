import { type RevisionUses, unusedOf } from '../../domain/catalog-state.ts'
import type { Marketplace, RevisionUse } from '../../marketplace.ts'
import { toError } from '../../observer.ts'
import type { BrokerContext } from '../context.ts'

/**
 * Deletes what nobody needs any more: retired services without instances, and revisions that are neither offered nor in
 * use. Run by the purge, and after a deprovision that may have been the last. The store looks once more at who needs what.
 */
export async function deleteUnusedRevisions(store: Marketplace): Promise<number> {
  const stored = await store.catalog()
  if (stored === undefined) return 0
  const { deleteServices, deleteRevisions } = unusedOf(stored, countUses(await store.revisionUses()))
  if (deleteServices.length + deleteRevisions.length === 0) return 0
  const changes = { insertRevisions: [], putServices: [], putRegistries: [], deleteRegistries: [] }
  const done = await store.changeCatalog(stored.version, { ...changes, deleteServices, deleteRevisions })
  // Somebody else has changed the catalog, and looked at the same time.
  return done ? deleteRevisions.length : 0
}

/** An instance may have been the last one that needed its revision. If this fails, the next purge tries again. */
export async function deleteRevisionsAfter(
  { registered, store, observer }: BrokerContext,
  revisionId: string | undefined,
): Promise<void> {
  if (registered === undefined || revisionId === undefined || !registered.isOutdated(revisionId)) return
  try {
    await deleteUnusedRevisions(store)
  } catch (error) {
    observer['revision.deletionFailed']?.({ error: toError(error) })
  }
}

export function countUses(uses: readonly RevisionUse[]): RevisionUses {
  const counts = new Map<string, number>()
  for (const { revisionId, instances } of uses) counts.set(revisionId, (counts.get(revisionId) ?? 0) + instances)
  return counts
}
