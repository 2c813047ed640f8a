import type { Service } from '../../author/define-service.ts'
import { hideParameters } from '../../bundle/hide-parameters.ts'
import { planIdOf } from '../../bundle/names.ts'
import { type BundleSpec, parseBundleSpec } from '../../bundle/spec.ts'
import { toOffering } from '../../bundle/to-offering.ts'
import { sleep } from '../../clock.ts'
import { catalogOf, type RegisteredService } from '../../domain/catalog-state.ts'
import type { Revision } from '../../domain/revision.ts'
import type { Marketplace, StoredCatalog } from '../../marketplace.ts'
import { toError } from '../../observer.ts'
import type { Offering } from '../../protocol/offering.ts'
import type { ReadSettings } from '../../settings/settings.ts'
import type { BrokerContext } from '../context.ts'
import { type ResolvedService, resolve, type ServiceIndex } from '../resolve-services.ts'

export type RegisteredCatalog = ReturnType<typeof createRegisteredCatalog>

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

/** What came from registries, as this process knows it. The ledger has it; every replica follows. */
export function createRegisteredCatalog(parts: RegisteredCatalogParts) {
  const { store, settings } = parts
  const specs = createSpecCache()
  let catalog: StoredCatalog = { version: -1, services: [], revisions: [] }
  let services = new Map<string, RegisteredService>()
  let revisions = new Map<string, Revision>()
  let given = new Map<string, readonly string[]>()
  let resolved = new Map<string, ResolvedService>()
  let offerings: readonly Offering[] = []
  let unanswered = parts.registries
  let refreshing: Promise<void> | undefined

  const offeringOf = (revision: Revision): Offering => {
    const names = given.get(revision.fullName) ?? []
    if (names.length === 0) return revision.offering
    return toOffering(hideParameters(specs.get(revision), names), revision)
  }

  /** The service as one of its revisions has it. */
  function at(revisionId: string): ResolvedService | undefined {
    const known = resolved.get(revisionId)
    const revision = revisions.get(revisionId)
    if (known !== undefined || revision === undefined) return known
    const spec = specs.get(revision)
    const service: ResolvedService = {
      ...resolve(offeringOf(revision), parts.drive(revision, spec), settings, {}),
      revisionId,
      updatesTo: updatesOf(revision, spec),
      // A sandbox cannot be started late; a call to a cluster may land whenever it likes.
      lateCalls: spec.manifests !== undefined,
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
    if (unanswered.length === 0) return
    const { registries } = await store.registries()
    const answered = new Set(registries.flatMap(state => (state.lastAnswerAt === undefined ? [] : state.name)))
    unanswered = unanswered.filter(name => !answered.has(name))
  }

  return {
    specs,
    /** What is offered, by name: another list where something has changed. */
    get offerings() {
      return offerings
    },
    /** The configured registries that have never answered: nobody knows what they offer. */
    get unanswered() {
      return unanswered
    },
    /** Whether nothing has ever come from any registry. What is retired has come from one. */
    get isEmpty() {
      return services.size === 0
    },
    service: (serviceId: string) => services.get(serviceId),
    at,
    /** A revision that is kept for an instance and has a plan that the current one has not. */
    olderWith(serviceId: string, planId: string) {
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
    /** True if the revision is no longer offered and is kept only for existing instances. */
    isOutdated(revisionId: string) {
      const revision = revisions.get(revisionId)
      const service = revision && services.get(revision.serviceId)
      return service === undefined || service.retiredAt !== undefined || service.revisionId !== revisionId
    },
    /** Reads what has changed in the ledger. */
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

export type SpecCache = ReturnType<typeof createSpecCache>

type SpecSource = Pick<Revision, 'id' | 'source' | 'fullName'>

/** The specs of revisions. A revision never changes, so its spec is parsed once. */
export function createSpecCache() {
  const specs = new Map<string, BundleSpec | undefined>()

  /** Undefined where this release cannot read the spec. It was checked when it was first seen, maybe by another release. */
  const find = ({ id, source, fullName }: SpecSource): BundleSpec | undefined => {
    if (!specs.has(id)) specs.set(id, parseBundleSpec(source, fullName).spec)
    return specs.get(id)
  }

  return {
    find,
    /** Throws where this release cannot read the spec. */
    get(revision: SpecSource): BundleSpec {
      const spec = find(revision)
      if (spec === undefined)
        throw new Error(`the spec of ${revision.fullName} (revision ${revision.id}) cannot be read by this release`)
      return spec
    },
    /** Forgets the specs of other revisions. */
    keep(revisionIds: Pick<ReadonlySet<string>, 'has'>): void {
      for (const id of specs.keys()) if (!revisionIds.has(id)) specs.delete(id)
    },
  }
}

const lookEvery = 5_000

/**
 * Keeps this process's catalog up with the ledger's, whichever replica changes it. Wake-ups only shorten the wait, and a
 * look at what has not changed costs one small read. Stops with the process.
 */
export async function followCatalog(
  registered: RegisteredCatalog,
  { store, clock, observer, stopping }: BrokerContext,
): Promise<void> {
  let wake = new AbortController()
  const stop = () => wake.abort()
  const unsubscribe = store.onWakeUp(wakeUp => {
    if (wakeUp.type === 'catalog') wake.abort()
  })
  stopping.addEventListener('abort', stop, { once: true })
  let failing = false
  while (!stopping.aborted) {
    await sleep(clock, lookEvery, wake.signal)
    if (stopping.aborted) break
    wake = new AbortController()
    try {
      await registered.refresh()
      failing = false
    } catch (error) {
      if (!failing) observer['catalog.readFailed']?.({ error: toError(error) })
      failing = true
    }
  }
  unsubscribe()
}
