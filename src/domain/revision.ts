import { createHash } from 'node:crypto'
import { isAbsolute } from 'node:path'
import type { Offering } from '../protocol/offering.ts'

/** What a registry says about one bundle, before anybody has read its spec. */
export interface FoundBundle {
  /** What the registry calls it: an image's repository, a folder, a chart. Unique in one answer of one registry. */
  readonly name: string
  /** What would be run: a folder, or an image, by its digest where the registry knows it. */
  readonly image: string
  readonly tag: string
  readonly digest: string
  /** Set where several versions of one bundle are listed: which of them it is. It is part of the service's name. */
  readonly variant?: string
  /** The text of its spec. */
  readonly source: string
  readonly runtime: 1 | 2
  /** Why its spec cannot even be read. It is there all the same, and what was known of it stays. */
  readonly unreadable?: string
  /** Why it cannot be run, unless its spec names an entry point. */
  readonly withoutProgram?: string
}

/**
 * One immutable version of a spec. An instance is pinned to the one that it was provisioned with, so a revision is never
 * changed, and not deleted while an instance needs it.
 */
export interface Revision extends Pick<FoundBundle, 'image' | 'tag' | 'variant' | 'digest' | 'source' | 'runtime'> {
  readonly id: string
  readonly serviceId: string
  readonly fullName: string
  readonly registry: string
  /** What its registry calls it; how a spec that cannot be read any more is matched with its last good revision. */
  readonly foundAs: string
  readonly bundleVersion?: string
  /** What the catalog shows of it. Kept, so that a catalog of thousands is there at once after a restart. */
  readonly offering: Offering
  /** What reading its spec found, and did not keep it from being offered. */
  readonly warnings?: readonly string[]
  readonly firstSeenAt: number
}

/** Which of the two `image` is: a folder is always named from the root on, and the name of an image never begins with a slash. */
export function programKindOf({ image }: Pick<FoundBundle, 'image'>): 'folder' | 'image' {
  return isAbsolute(image) ? 'folder' : 'image'
}

/**
 * The same for the same version, on every replica and after every restart. It covers all that decides what would run:
 * an image that moved, or a digest under another tag, is another revision, so that a stored one never has to be changed.
 */
export function revisionIdOf(registry: string, fullName: string, found: FoundBundle): string {
  const { name, image, tag, digest, runtime, source } = found
  return createHash('sha256')
    .update(JSON.stringify([registry, fullName, name, image, tag, digest, runtime, source]))
    .digest('base64url')
}
