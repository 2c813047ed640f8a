import type { Revision } from './revision.ts'

/** How one registry has been answering. Times are milliseconds of the store's clock. */
export interface RegistryState {
  readonly name: string
  /** When it was asked last, whatever came of it. */
  readonly checkedAt: number
  readonly lastAnswerAt?: number
  /** Absent where it never has, as far as is known. */
  readonly lastCompleteAt?: number
  /** Whether the last answer left something out. */
  readonly partial?: boolean
  /** Failures in a row; 0 after any answer. */
  readonly failures: number
  /** While it fails: from when on its silence counts. */
  readonly silentSince?: number
  /** Complete answers in a row that list nothing at all, while something of it is in the catalog. */
  readonly emptyAnswers?: number
  readonly lastProblem?: string
  /** What of the last answer could not be used; the first thousand. */
  readonly problems?: readonly string[]
  /** What is wrong with bundles that are offered all the same; the first thousand. */
  readonly warnings?: readonly string[]
  /** Images that instances are pinned to, and that it has no more. */
  readonly vanished?: readonly VanishedImage[]
  /** The pinned image that it was asked about last. */
  readonly pinsCheckedTo?: string
}

/** An image that a registry has lost, with the service and the number of its instances that need it. */
export interface VanishedImage {
  readonly image: string
  readonly service: string
  readonly instances: number
}

/** A service that came from a registry. */
export interface RegisteredService {
  readonly serviceId: string
  readonly registry: string
  /** What new instances are provisioned with. */
  readonly revisionId: string
  /** Set: out of the catalog, kept while an instance needs it. */
  readonly retiredAt?: number
}

export interface CatalogState {
  readonly registries: readonly RegistryState[]
  readonly services: readonly RegisteredService[]
  readonly revisions: readonly Revision[]
}

/** How many instances are pinned to which revision; every instance counts that still has to be deprovisioned. */
export type RevisionUses = ReadonlyMap<string, number>

/**
 * Whole rows to write in one transaction. The uses were counted before it: a store deletes a revision, and a service, only
 * if no instance is pinned to it at that moment, and leaves it for the next run otherwise.
 */
export interface CatalogChanges {
  readonly insertRevisions: readonly Revision[]
  /** Inserted or replaced by id: added, updated, retired or returned. */
  readonly putServices: readonly RegisteredService[]
  readonly deleteServices: readonly string[]
  readonly deleteRevisions: readonly string[]
  readonly putRegistries: readonly RegistryState[]
  readonly deleteRegistries: readonly string[]
}

/** What the catalog offers: the current revision of every service that is not retired, by name. */
export function catalogOf({ services, revisions }: CatalogState): Revision[] {
  const current = new Set(
    services.filter(service => service.retiredAt === undefined).map(({ revisionId }) => revisionId),
  )
  return revisions.filter(({ id }) => current.has(id)).sort((a, b) => compareText(a.fullName, b.fullName))
}

/**
 * What nobody needs any more: retired services without an instance, and revisions that are neither current nor used. The
 * rule of every sync, of the purge, and of the last deprovision, which asks about one service.
 */
export function unusedOf(
  { services, revisions }: Pick<CatalogState, 'services' | 'revisions'>,
  uses: RevisionUses,
): Pick<CatalogChanges, 'deleteServices' | 'deleteRevisions'> {
  const used = usedServices(revisions, uses)
  const deleteServices: string[] = []
  const current = new Set<string>()
  for (const service of services) {
    if (service.retiredAt !== undefined && !used.has(service.serviceId)) deleteServices.push(service.serviceId)
    else current.add(service.revisionId)
  }
  const deleteRevisions = revisions.filter(({ id }) => !current.has(id) && !isUsed(id, uses)).map(({ id }) => id)
  return { deleteServices: deleteServices.sort(compareText), deleteRevisions: deleteRevisions.sort(compareText) }
}

/** The services that some instance belongs to, whichever of their revisions it is pinned to. */
export function usedServices(revisions: readonly Revision[], uses: RevisionUses): ReadonlySet<string> {
  return new Set(revisions.filter(({ id }) => isUsed(id, uses)).map(({ serviceId }) => serviceId))
}

/** By code units: the same order everywhere, whatever the locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

export function groupBy<Row>(rows: Iterable<Row>, keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return groups
}

function isUsed(revisionId: string, uses: RevisionUses): boolean {
  return (uses.get(revisionId) ?? 0) > 0
}
