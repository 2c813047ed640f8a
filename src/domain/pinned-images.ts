import { compareText, type RevisionUses, type VanishedImage } from './catalog-state.ts'
import type { SeenBundle } from './registry-reply.ts'
import type { Revision } from './revision.ts'

/** What a registry said about images that instances are pinned to. Those that it said nothing certain about are in neither list. */
export interface PinCheck {
  readonly there: readonly string[]
  readonly gone: readonly string[]
  /** The last one that was asked about: the next sync goes on behind it. */
  readonly upTo?: string
}

export interface PinFacts {
  readonly registry: string
  readonly revisions: readonly Revision[]
  readonly uses: RevisionUses
  /** What the registry has just listed: it is there. */
  readonly found: readonly Pick<SeenBundle, 'image'>[]
}

function isPinned({ image, digest, id }: Revision, uses: RevisionUses): boolean {
  return (uses.get(id) ?? 0) > 0 && image.endsWith(`@${digest}`)
}

/**
 * Of each image by digest that instances are pinned to, one revision. Undefined where instances need a revision that is not
 * among these: then what they need is not known.
 */
export function pinnedRevisions(revisions: readonly Revision[], uses: RevisionUses): readonly Revision[] | undefined {
  const known = new Set(revisions.map(({ id }) => id))
  if ([...uses.keys()].some(id => !known.has(id))) return undefined
  const pinned = revisions.filter(revision => isPinned(revision, uses))
  return [...new Map(pinned.map(revision => [revision.image, revision])).values()]
}

/** The images by digest that instances are pinned to, and that nobody has just seen, in the order of their names. */
function unseenPins({ registry, revisions, uses, found }: PinFacts): ReadonlyMap<string, VanishedImage> {
  const seen = new Set(found.map(({ image }) => image))
  const pins = new Map<string, VanishedImage>()
  for (const revision of revisions) {
    const { id, image, fullName: service } = revision
    if (revision.registry !== registry || seen.has(image) || !isPinned(revision, uses)) continue
    const instances = uses.get(id) ?? 0
    pins.set(image, { image, service, instances: instances + (pins.get(image)?.instances ?? 0) })
  }
  return new Map([...pins].sort(([a], [b]) => compareText(a, b)))
}

/** Those to ask about next: so many, from behind the last one that was asked about, and from the beginning again. */
export function pinsToCheck(facts: PinFacts, after: string | undefined, most: number): readonly string[] {
  const images = [...unseenPins(facts).keys()]
  const start = images.findIndex(image => after !== undefined && image > after)
  const turned = start === -1 ? images : [...images.slice(start), ...images.slice(0, start)]
  return turned.slice(0, most)
}

/** What is known to be gone, and still needed. What nobody was asked about this time stays what it was. */
export function vanishedAfter(
  facts: PinFacts,
  before: readonly VanishedImage[],
  { there, gone }: PinCheck,
): readonly VanishedImage[] {
  const known = new Set([...before.map(({ image }) => image), ...gone])
  for (const image of there) known.delete(image)
  return [...unseenPins(facts).values()].filter(({ image }) => known.has(image))
}
