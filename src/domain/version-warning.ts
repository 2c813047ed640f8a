import { compareVersions } from '../shape/version.ts'
import type { FoundBundle, Revision } from './revision.ts'

type Content = Pick<FoundBundle, 'image' | 'digest' | 'source'>
type Versioned = Content & Pick<Revision, 'bundleVersion'>

/**
 * What is wrong with the version of a bundle, going by what else the ledger has of its service: what is offered, and what
 * instances are pinned to. Another content has to have a higher version, since it is all that platforms see of it.
 */
export function versionWarning(found: Versioned, stored: readonly Versioned[]): string | undefined {
  const others = stored.filter(other => other.bundleVersion !== undefined && !hasContentOf(found, other))
  const versions = others.map(({ bundleVersion = '' }) => bundleVersion).sort(compareVersions)
  const highest = versions.at(-1)
  const { bundleVersion: version } = found
  if (highest === undefined) return undefined
  if (version === undefined)
    return `it has no bundle_version any more, after ${highest}: platforms offer no upgrade to it; give it a higher one`
  const difference = compareVersions(version, highest)
  if (difference > 0) return undefined
  return difference === 0
    ? `its content has changed, and its bundle_version is still ${version}: platforms offer no upgrade to it; raise the version`
    : `its content has changed, and its bundle_version ${version} is lower than ${highest}, which was there before; raise it`
}

/** An image by its digest is the same wherever it is pulled from. */
function hasContentOf(a: Content, b: Content): boolean {
  const isImmutable = a.image.endsWith(`@${a.digest}`) && b.image.endsWith(`@${b.digest}`)
  return a.digest === b.digest && a.source === b.source && (isImmutable || a.image === b.image)
}
