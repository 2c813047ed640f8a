import { compareText, type RegisteredService } from './catalog-state.ts'
import type { Lapse, Sighting, Source } from './registry-reply.ts'
import type { Revision } from './revision.ts'

/** What one run knows about one service id. */
export interface ServiceFacts {
  readonly service?: RegisteredService
  /** The service's current revision. */
  readonly current?: Revision
  /** Whether an instance is pinned to any of its revisions. */
  readonly isUsed: boolean
  readonly sources: ReadonlyMap<string, Source>
  readonly sightings: readonly Sighting[]
}

/** `gone`: a complete answer does not list it. `unconfigured`: its registry was taken out of the configuration. */
export type RetireReason = 'gone' | 'unconfigured' | Lapse

/** `keep`: its row stays as it is, in the catalog or retired. The losers lost a collision: they are not stored. */
export type Fate = { readonly losers: readonly Sighting[] } & (
  | { readonly kind: 'keep' }
  | { readonly kind: 'publish'; readonly winner: Sighting }
  | { readonly kind: 'retire'; readonly reason: RetireReason }
)

/**
 * Who offers a service id now. The first registry in the configuration's order does. Within one registry the bundle that
 * is current goes on, seen or not, until it is known to be gone; so two bundles of one name never take turns.
 */
export function decideService(facts: ServiceFacts): Fate {
  const { service, sightings } = facts
  const gone = whyGone(facts)
  const isKept = service !== undefined && service.retiredAt === undefined && gone === undefined
  const [winner, ...losers] = [...sightings].sort((a, b) => compareSightings(a, b, facts.current))
  if (winner !== undefined && !(isKept && precedes(facts, winner))) return { kind: 'publish', winner, losers }
  if (service === undefined || service.retiredAt !== undefined || gone === undefined)
    return { kind: 'keep', losers: [...sightings] }
  return { kind: 'retire', reason: gone, losers }
}

/** Why the service's own registry no longer stands for it, going by what is stored and not by what was seen of it. */
function whyGone({ service, current, isUsed, sources }: ServiceFacts): RetireReason | undefined {
  if (service === undefined) return undefined
  const source = sources.get(service.registry)
  if (source === undefined) return 'unconfigured'
  if (source.reply?.kind === 'failed') return isUsed ? undefined : source.lapse
  if (source.reply?.kind !== 'complete') return undefined
  if (source.isDoubted) return undefined
  return current !== undefined && source.unusable.has(current.foundAs) ? undefined : 'gone'
}

/** Whether the stored service stands before the best of what was seen. */
function precedes({ service, current, sources }: ServiceFacts, best: Sighting): boolean {
  const own = sources.get(service?.registry ?? '')
  if (own === undefined) return false
  return own.order < best.source.order || (own === best.source && !isSuccessor(best, current))
}

/** Registries in the order of the configuration; within one, the current bundle first, then by name. Speed never decides. */
function compareSightings(a: Sighting, b: Sighting, current: Revision | undefined): number {
  return (
    a.source.order - b.source.order ||
    Number(isSuccessor(b, current)) - Number(isSuccessor(a, current)) ||
    compareText(a.bundle.name, b.bundle.name) ||
    compareText(a.revisionId, b.revisionId)
  )
}

function isSuccessor({ source, bundle }: Sighting, current: Revision | undefined): boolean {
  return current !== undefined && current.registry === source.name && current.foundAs === bundle.name
}
