import type { RegistryAnswer } from '../registry.ts'
import { type BundleReading, readEach } from './answer.ts'
import type { Asking } from './registry-type.ts'
import type { TagChoice } from './settings.ts'

/** One image under one tag, which is looked at. */
export interface TaggedImage {
  /** What messages and the ledger call it. */
  readonly name: string
  readonly image: string
  readonly tag: string
  /** Set for every tag of a list but the default one, which has the name that the image has without a list. */
  readonly variant?: string
  /** Where an operator has named it, if one has: that it is not there is worth a word. */
  readonly namedIn?: 'images' | 'tag'
}

interface ImageChoice {
  readonly tag: TagChoice
  /** Those that an operator named. */
  readonly images: readonly string[]
}

/** Reads the bundles among these images that pass. Those with a list of tags are read whether they are listed or not. */
export function readTagged(
  images: readonly string[],
  choice: ImageChoice,
  read: (image: TaggedImage) => Promise<BundleReading>,
  { passes, signal }: Pick<Asking, 'passes' | 'signal'>,
): Promise<RegistryAnswer> {
  const listed = Object.keys(choice.tag.named).filter(image => typeof choice.tag.named[image] !== 'string')
  const wanted = new Map(
    [...images, ...listed]
      .filter(passes)
      .flatMap(image => taggedImages(image, choice))
      .map(tagged => [tagged.name, tagged]),
  )
  return readEach(
    [...wanted.keys()],
    async name => {
      const tagged = wanted.get(name)
      return tagged && read(tagged)
    },
    signal,
  )
}

/** What is looked at of an image. Neither names nor variants depend on which other tags a list has. */
export function taggedImages(image: string, { tag: { default: usual, named }, images }: ImageChoice): TaggedImage[] {
  const chosen = (Object.hasOwn(named, image) ? named[image] : undefined) ?? usual
  if (typeof chosen === 'string')
    return [{ name: image, image, tag: chosen, namedIn: images.includes(image) ? 'images' : undefined }]
  return chosen.map(tag =>
    tag === usual
      ? { name: image, image, tag, namedIn: 'tag' }
      : { name: `${image}:${tag}`, image, tag, variant: tag, namedIn: 'tag' },
  )
}

/** An image that does not have its tag is not offered; that is told of those that an operator named. */
export function withoutTag({ image, tag, namedIn }: TaggedImage): BundleReading {
  return namedIn && { note: `${image}: it has no tag ${tag}; push it, or take it out of ${namedIn}` }
}
