import {
  compareText,
  type RegisteredService,
  type RegistryState,
  type RevisionUses,
  type VanishedImage,
} from './catalog-state.ts'
import type { Fate, RetireReason } from './decide-service.ts'
import { foundIn, type Sighting, type Source } from './registry-reply.ts'
import type { Revision } from './revision.ts'

export interface ReportedService {
  readonly serviceId: string
  readonly fullName: string
  readonly registry: string
  readonly tag?: string
  readonly bundleVersion?: string
}

/** Two bundles of one full name, or of one id: only the first is offered. */
export interface Collision {
  readonly serviceId: string
  readonly fullName: string
  /** Registry and bundle. */
  readonly offered: { readonly registry: string; readonly name: string }
  readonly leftOut: { readonly registry: string; readonly name: string }
}

export interface ReportedProblem {
  readonly registry?: string
  /** What the registry calls the bundle. */
  readonly name?: string
  readonly problem: string
}

/** For people: what a run changed, and what it could not use. Every run reports problems and collisions. */
export interface ReconcileReport {
  readonly added: readonly ReportedService[]
  /** With the ids of the revisions. */
  readonly updated: readonly (ReportedService & { readonly from: string; readonly to: string })[]
  /** What left the catalog; whatever no instance needs is among the deleted ones too. */
  readonly retired: readonly (ReportedService & { readonly reason: RetireReason })[]
  readonly returned: readonly ReportedService[]
  readonly deleted: readonly ReportedService[]
  readonly collisions: readonly Collision[]
  readonly problems: readonly ReportedProblem[]
  /** About what is offered all the same. */
  readonly warnings: readonly ReportedProblem[]
  /** Images that instances are pinned to, and that their registry has no more. */
  readonly vanished: readonly (VanishedImage & { readonly registry: string })[]
}

/** One service about which there is something to say. */
export interface Decided {
  readonly fate: Fate
  readonly before?: RegisteredService
  readonly after?: RegisteredService
}

export interface ReportFacts {
  readonly decided: readonly Decided[]
  readonly deleted: readonly string[]
  readonly services: ReadonlyMap<string, RegisteredService>
  /** Stored and new ones. */
  readonly revisions: ReadonlyMap<string, Revision>
  readonly sources: ReadonlyMap<string, Source>
  readonly uses: RevisionUses
  /** By registry. */
  readonly lost: ReadonlyMap<string, Pick<RegistryState, 'vanished'>>
}

export function reportOf({ decided, deleted, services, revisions, sources, uses, lost }: ReportFacts): ReconcileReport {
  const describe = (service: RegisteredService) => toReported(service, revisions.get(service.revisionId))
  const gone = deleted.flatMap(serviceId => services.get(serviceId) ?? [])
  const added: ReportedService[] = []
  const updated: ReconcileReport['updated'][number][] = []
  const retired: ReconcileReport['retired'][number][] = []
  const returned: ReportedService[] = []
  for (const { fate, before, after } of decided) {
    if (after === undefined) continue
    const service = describe(after)
    if (fate.kind === 'retire') retired.push({ ...service, reason: fate.reason })
    else if (before === undefined) added.push(service)
    else if (before.retiredAt !== undefined) returned.push(service)
    else updated.push({ ...service, from: before.revisionId, to: after.revisionId })
  }
  return {
    added: added.sort(byName),
    updated: updated.sort(byName),
    retired: retired.sort(byName),
    returned: returned.sort(byName),
    deleted: gone.map(describe).sort(byName),
    collisions: decided.flatMap(one => collisionsOf(one, revisions)).sort(byLeftOut),
    problems: [...[...sources.values()].flatMap(problemsOf), ...missingOf(revisions, uses)],
    warnings: [...sources.values()].flatMap(warningsOf),
    vanished: [...lost].flatMap(([registry, { vanished = [] }]) => vanished.map(one => ({ ...one, registry }))),
  }
}

function toReported(service: RegisteredService, revision: Revision | undefined): ReportedService {
  return {
    serviceId: service.serviceId,
    fullName: revision?.fullName ?? service.serviceId,
    registry: service.registry,
    tag: revision?.tag,
    bundleVersion: revision?.bundleVersion,
  }
}

function collisionsOf({ fate, before }: Decided, revisions: ReadonlyMap<string, Revision>): Collision[] {
  const offered =
    fate.kind === 'publish'
      ? nameOf(fate.winner)
      : { registry: before?.registry ?? '', name: revisions.get(before?.revisionId ?? '')?.foundAs ?? '' }
  return fate.losers.map(loser => ({
    serviceId: loser.bundle.parsed.serviceId,
    fullName: loser.bundle.parsed.fullName,
    offered,
    leftOut: nameOf(loser),
  }))
}

function nameOf({ source, bundle }: Sighting): Collision['offered'] {
  return { registry: source.name, name: bundle.name }
}

function problemsOf({ name: registry, reply }: Source): ReportedProblem[] {
  if (reply === undefined) return []
  if (reply.kind === 'failed') return [{ registry, problem: reply.problem }]
  const ofBundles = foundIn(reply).flatMap(({ name, parsed, problems = [] }) => {
    const said = parsed === undefined && problems.length === 0 ? ['The spec cannot be used.'] : problems
    return said.map(problem => ({ registry, name, problem }))
  })
  return [...reply.problems.map(problem => ({ registry, problem })), ...ofBundles.sort(byProblem)]
}

function warningsOf({ name: registry, reply }: Source): ReportedProblem[] {
  return foundIn(reply)
    .flatMap(({ name, warnings = [] }) => warnings.map(problem => ({ registry, name, problem })))
    .sort(byProblem)
}

/** This should never happen. It is reported, because the actions of these instances cannot run. */
function missingOf(revisions: ReadonlyMap<string, Revision>, uses: RevisionUses): ReportedProblem[] {
  return [...uses]
    .filter(([revisionId, count]) => count > 0 && !revisions.has(revisionId))
    .map(([revisionId, count]) => ({
      problem: `${count} ${count === 1 ? 'instance is' : 'instances are'} pinned to revision ${revisionId}, which is not stored: no action can run until a registry offers it again.`,
    }))
}

function byName(a: ReportedService, b: ReportedService): number {
  return compareText(a.fullName, b.fullName) || compareText(a.serviceId, b.serviceId)
}

function byLeftOut({ leftOut: a }: Collision, { leftOut: b }: Collision): number {
  return compareText(a.registry, b.registry) || compareText(a.name, b.name)
}

function byProblem(a: ReportedProblem, b: ReportedProblem): number {
  return compareText(a.name ?? '', b.name ?? '') || compareText(a.problem, b.problem)
}
