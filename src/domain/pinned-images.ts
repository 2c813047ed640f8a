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

/** The images by digest that instances are pinned to, and that nobody has just seen, in the order of their names. */
function unseenPins({ registry, revisions, uses, found }: PinFacts): ReadonlyMap<string, VanishedImage> {
  const seen = new Set(found.map(({ image }) => image))
  const pins = new Map<string, VanishedImage>()
  for (const { id, image, digest, fullName: service, registry: from } of revisions) {
    const instances = uses.get(id) ?? 0
    if (from !== registry || instances === 0 || seen.has(image) || !image.endsWith(`@${digest}`)) continue
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
