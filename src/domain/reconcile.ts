import { isDeepStrictEqual } from 'node:util'
import type { CatalogChanges, CatalogState, RegisteredService, RegistryState, RevisionUses } from './catalog-state.ts'
import { compareText, unusedOf, usedServices } from './catalog-state.ts'
import { decideService, type Fate } from './decide-service.ts'
import { type PinCheck, vanishedAfter } from './pinned-images.ts'
import { type Decided, type ReconcileReport, reportOf } from './reconcile-report.ts'
import type { ReconcileSettings, RegistryReply, Sighting, Source } from './registry-reply.ts'
import { foundIn, sightingsOf, sourcesOf, withProblems } from './registry-reply.ts'
import type { Revision } from './revision.ts'

export interface ReconcileInput {
  /** The store's clock. */
  readonly now: number
  /**
   * Every configured registry, in the configuration's order. One without an answer was not asked this time: nothing of it
   * changes. One that is stored and not here was taken out of the configuration: everything of it is gone.
   */
  readonly registries: readonly {
    readonly name: string
    readonly answer?: RegistryReply
    readonly pins?: PinCheck
  }[]
  readonly stored: CatalogState
  readonly uses: RevisionUses
  readonly settings: ReconcileSettings
}

export interface Reconciled {
  readonly changes: CatalogChanges
  readonly report: ReconcileReport
}

/**
 * (what each registry answered, what is stored, who uses what) -> changes. Applied and run again it changes nothing. No
 * answer never means gone, a used revision is never deleted, and ids are those of the names, so that what comes back is
 * the service that left.
 */
export function reconcile({ now, registries, stored, uses, settings }: ReconcileInput): Reconciled {
  const sources = sourcesOf(registries, stored, now, settings)
  const sightings = sightingsOf(sources.values())
  const services = new Map(stored.services.map(service => [service.serviceId, service]))
  const revisions = new Map(stored.revisions.map(revision => [revision.id, revision]))
  const used = usedServices(stored.revisions, uses)

  const inserted: Revision[] = []
  const put = new Map<string, RegisteredService>()
  const decided: Decided[] = []
  for (const serviceId of new Set([...services.keys(), ...sightings.keys()])) {
    const service = services.get(serviceId)
    const current = service && revisions.get(service.revisionId)
    const seen = sightings.get(serviceId) ?? []
    const fate = decideService({ service, current, isUsed: used.has(serviceId), sources, sightings: seen })
    const next = nextService(service, fate, now)
    if (next !== undefined) put.set(serviceId, next)
    if (fate.kind === 'publish' && !revisions.has(fate.winner.revisionId)) inserted.push(toRevision(fate.winner, now))
    if (next !== undefined || fate.losers.length > 0) decided.push({ fate, before: service, after: next })
  }

  for (const revision of inserted) revisions.set(revision.id, revision)
  const kept = { services: [...new Map([...services, ...put]).values()], revisions: [...revisions.values()] }
  const unused = unusedOf(kept, uses)
  const lost = new Map(
    registries.map(({ name: registry, pins = { there: [], gone: [] } }): [string, Lost] => {
      const before = stored.registries.find(({ name }) => name === registry)
      const facts = { registry, revisions: stored.revisions, uses, found: foundIn(sources.get(registry)?.reply) }
      const vanished = vanishedAfter(facts, before?.vanished ?? [], pins)
      const pinsCheckedTo = pins.upTo ?? before?.pinsCheckedTo
      return [registry, { ...(vanished.length > 0 && { vanished }), ...(pinsCheckedTo && { pinsCheckedTo }) }]
    }),
  )
  const report = reportOf({ decided, deleted: unused.deleteServices, services, revisions, sources, uses, lost })
  return {
    changes: {
      insertRevisions: inserted.sort((a, b) => compareText(a.id, b.id)),
      putServices: [...put.values()].sort((a, b) => compareText(a.serviceId, b.serviceId)),
      ...unused,
      ...registryChanges(stored.registries, { sources, leftOut: leftOutOf(report), lost }),
    },
    report,
  }
}

/** The service's new row; undefined where it stays as it is. */
function nextService(service: RegisteredService | undefined, fate: Fate, now: number): RegisteredService | undefined {
  if (fate.kind === 'retire') return service && { ...service, retiredAt: now }
  if (fate.kind === 'keep') return undefined
  const { bundle, source, revisionId } = fate.winner
  if (service?.revisionId === revisionId && service.retiredAt === undefined) return undefined
  return { serviceId: bundle.parsed.serviceId, registry: source.name, revisionId }
}

function toRevision({ bundle, source: { name: registry }, revisionId: id }: Sighting, now: number): Revision {
  const { name: foundAs, image, tag, variant, digest, source, runtime, parsed } = bundle
  return { ...parsed, id, registry, foundAs, image, tag, variant, digest, source, runtime, firstSeenAt: now }
}

/** By registry: what is not offered because another bundle has its name. */
function leftOutOf({ collisions }: ReconcileReport): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, string[]>()
  for (const { leftOut, offered, fullName } of collisions) {
    const line = `${leftOut.name}: not offered, since ${offered.name} of registry ${offered.registry} is ${fullName} too; rename one of them`
    lines.set(leftOut.registry, [...(lines.get(leftOut.registry) ?? []), line])
  }
  return lines
}

type Lost = Pick<RegistryState, 'vanished' | 'pinsCheckedTo'>

interface RegistryFacts {
  readonly sources: ReadonlyMap<string, Source>
  readonly leftOut: ReadonlyMap<string, readonly string[]>
  readonly lost: ReadonlyMap<string, Lost>
}

function registryChanges(
  stored: readonly RegistryState[],
  { sources, leftOut, lost }: RegistryFacts,
): Pick<CatalogChanges, 'putRegistries' | 'deleteRegistries'> {
  const before = new Map(stored.map(state => [state.name, state]))
  return {
    putRegistries: [...sources.values()].flatMap(({ name, state: asked }) => {
      const state = asked && { ...withProblems(asked, leftOut.get(name) ?? []), ...lost.get(name) }
      return state === undefined || isDeepStrictEqual(state, before.get(name)) ? [] : [state]
    }),
    deleteRegistries: stored.map(({ name }) => name).filter(name => !sources.has(name)),
  }
}
