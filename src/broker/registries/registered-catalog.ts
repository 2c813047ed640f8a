import type { Service } from '../../author/define-service.ts'
import { hideParameters } from '../../bundle/hide-parameters.ts'
import { planIdOf } from '../../bundle/names.ts'
import type { BundleSpec } from '../../bundle/spec.ts'
import { toOffering } from '../../bundle/to-offering.ts'
import { catalogOf, type RegisteredService } from '../../domain/catalog-state.ts'
import type { Revision } from '../../domain/revision.ts'
import type { Marketplace, StoredCatalog } from '../../marketplace.ts'
import type { Offering } from '../../protocol/offering.ts'
import type { ReadSettings } from '../../settings/settings.ts'
import { type ResolvedService, resolve, type ServiceIndex } from '../resolve-services.ts'
import { createSpecCache, type SpecCache } from './spec-cache.ts'

/** What came from registries, as this process knows it. The ledger has it; every replica follows. */
export interface RegisteredCatalog {
  /** What is offered, by name: another list where something has changed. */
  readonly offerings: readonly Offering[]
  readonly specs: SpecCache
  /** Whether every configured registry has been asked, ever. */
  readonly synced: boolean
  service(serviceId: string): RegisteredService | undefined
  /** The service as one of its revisions has it. */
  at(revisionId: string): ResolvedService | undefined
  /** A revision that is kept for an instance and has a plan that the current one has not. */
  olderWith(serviceId: string, planId: string): ResolvedService | undefined
  /** True if the revision is no longer offered and is kept only for existing instances. */
  isOutdated(revisionId: string): boolean
  /** Reads what has changed in the ledger. */
  refresh(): Promise<void>
}

export interface RegisteredCatalogParts {
  readonly store: Marketplace
  readonly settings: ReadSettings
  /** The names of the configured registries. */
  readonly registries: readonly string[]
  /** Runs a revision's actions. */
  readonly drive: (revision: Revision, spec: BundleSpec) => Service
  /** The parameters of a bundle that the operator gives, by its full name: users cannot. */
  readonly given: (fullName: string) => Promise<readonly string[]>
  /** Told of every catalog that was read, before it is used: what a revision needs on this machine can be kept. */
  readonly onCatalog: (revisions: readonly Revision[]) => Promise<void>
}

export function createRegisteredCatalog(parts: RegisteredCatalogParts): RegisteredCatalog {
  const { store, settings } = parts
  const specs = createSpecCache()
  let catalog: StoredCatalog = { version: -1, services: [], revisions: [] }
  let services = new Map<string, RegisteredService>()
  let revisions = new Map<string, Revision>()
  let given = new Map<string, readonly string[]>()
  let resolved = new Map<string, ResolvedService>()
  let offerings: readonly Offering[] = []
  let synced = false
  let refreshing: Promise<void> | undefined

  const offeringOf = (revision: Revision): Offering => {
    const names = given.get(revision.fullName) ?? []
    if (names.length === 0) return revision.offering
    return toOffering(hideParameters(specs.get(revision), names), { registry: revision.registry })
  }

  function at(revisionId: string): ResolvedService | undefined {
    const known = resolved.get(revisionId)
    const revision = revisions.get(revisionId)
    if (known !== undefined || revision === undefined) return known
    const spec = specs.get(revision)
    const service: ResolvedService = {
      ...resolve(offeringOf(revision), parts.drive(revision, spec), settings, {}),
      revisionId,
      updatesTo: updatesOf(revision, spec),
      lateCalls: false,
    }
    resolved.set(revisionId, service)
    return service
  }

  async function load(): Promise<void> {
    const found = await store.catalog(catalog.version)
    if (found !== undefined) {
      await parts.onCatalog(found.revisions)
      const names = new Set(found.revisions.map(({ fullName }) => fullName))
      given = new Map(await Promise.all([...names].map(async name => [name, await parts.given(name)] as const)))
      catalog = found
      services = new Map(found.services.map(service => [service.serviceId, service]))
      revisions = new Map(found.revisions.map(revision => [revision.id, revision]))
      specs.keep(revisions)
      resolved = new Map([...resolved].filter(([id]) => revisions.has(id)))
      offerings = catalogOf({ ...found, registries: [] }).map(offeringOf)
    }
    if (synced) return
    const asked = new Set((await store.registries()).registries.map(({ name }) => name))
    synced = parts.registries.every(name => asked.has(name))
  }

  return {
    specs,
    get offerings() {
      return offerings
    },
    get synced() {
      return synced
    },
    service: serviceId => services.get(serviceId),
    at,
    olderWith(serviceId, planId) {
      const current = services.get(serviceId)?.revisionId
      const older = catalog.revisions.filter(
        revision =>
          revision.serviceId === serviceId &&
          revision.id !== current &&
          revision.offering.plans.some(({ id }) => id === planId),
      )
      const newest = older.sort((a, b) => b.firstSeenAt - a.firstSeenAt)[0]
      return newest && at(newest.id)
    },
    isOutdated(revisionId) {
      const revision = revisions.get(revisionId)
      const service = revision && services.get(revision.serviceId)
      return service === undefined || service.retiredAt !== undefined || service.revisionId !== revisionId
    },
    refresh() {
      refreshing ??= load().finally(() => {
        refreshing = undefined
      })
      return refreshing
    },
  }
}

/** Where an update may lead, by plan id. */
function updatesOf({ fullName }: Revision, { plans }: BundleSpec): ReadonlyMap<string, readonly string[]> {
  const id = (plan: string) => planIdOf(fullName, plan)
  return new Map(plans.map(plan => [id(plan.name), plan.updatesTo.map(id)]))
}

/** The broker's own services, and behind them what registries offer. */
export function withRegistered(own: ServiceIndex, registered: RegisteredCatalog): ServiceIndex {
  let shown: readonly Offering[] | undefined
  let offerings = own.offerings
  return {
    ...own,
    get offerings() {
      if (registered.offerings !== shown) {
        shown = registered.offerings
        offerings = [...own.offerings, ...shown]
      }
      return offerings
    },
    of: ({ serviceId, revisionId }) => (revisionId === undefined ? own.find(serviceId) : registered.at(revisionId)),
  }
}
