import { type BundleSpec, parseBundleSpec } from '../../bundle/spec.ts'
import type { Revision } from '../../domain/revision.ts'

/** The specs of revisions. A revision never changes, so its spec is parsed once. */
export interface SpecCache {
  /** Undefined where this release cannot read the spec. It was checked when it was first seen, maybe by another release. */
  find(revision: Pick<Revision, 'id' | 'source' | 'fullName'>): BundleSpec | undefined
  /** Throws where this release cannot read the spec. */
  get(revision: Pick<Revision, 'id' | 'source' | 'fullName'>): BundleSpec
  /** Forgets the specs of other revisions. */
  keep(revisionIds: Pick<ReadonlySet<string>, 'has'>): void
}

export function createSpecCache(): SpecCache {
  const specs = new Map<string, BundleSpec | undefined>()

  const find: SpecCache['find'] = ({ id, source, fullName }) => {
    if (!specs.has(id)) specs.set(id, parseBundleSpec(source, fullName).spec)
    return specs.get(id)
  }

  return {
    find,
    get(revision) {
      const spec = find(revision)
      if (spec === undefined)
        throw new Error(`the spec of ${revision.fullName} (revision ${revision.id}) cannot be read by this release`)
      return spec
    },
    keep(revisionIds) {
      for (const id of specs.keys()) if (!revisionIds.has(id)) specs.delete(id)
    },
  }
}
