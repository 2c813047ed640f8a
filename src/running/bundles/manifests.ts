/** Services that consist of objects of a cluster: what they are given, and what looks after what they have made. */
import { parseBundleSpec } from '../../bundle/spec.ts'
import type { Clock } from '../../clock.ts'
import type { Revision } from '../../domain/revision.ts'
import { createManifestsDriver, madeBy } from '../../driver/manifests/manifests-driver.ts'
import type { Made, ManifestParts } from '../../driver/manifests/parts.ts'
import { createDriftWatch } from '../../driver/manifests/watch-drift.ts'
import type { OpenCluster } from '../../kubernetes/open-later.ts'
import { createRedactor } from '../../sensitive/redact.ts'
import type { ConfigSettings } from '../../settings/config.ts'

type Given = Pick<ManifestParts, 'storeNow' | 'secretsFor' | 'brokerId'> & {
  readonly clock: Clock
  readonly open: () => Promise<OpenCluster>
}

export function openManifests(
  { manifests }: Pick<ConfigSettings['bundles'], 'manifests'>,
  { clock, open, ...given }: Given,
) {
  let made: readonly (Made & Pick<Revision, 'serviceId'>)[] = []
  const driftWatch = createDriftWatch({ open, clock, brokerId: given.brokerId, kinds: () => made })
  return {
    drive: createManifestsDriver({
      ...given,
      open,
      limits: manifests,
      kinds: serviceId => made.filter(one => one.serviceId === serviceId),
      createRedactor,
    }),
    /** To be told of every catalog that was read. */
    look(revisions: readonly Pick<Revision, 'serviceId' | 'source' | 'fullName'>[]): void {
      // Most have none, and are not read again for it.
      const specs = revisions.filter(({ source }) => source.includes('manifests'))
      made = specs.flatMap(({ serviceId, source, fullName }) =>
        madeBy(parseBundleSpec(source, fullName).spec ?? {}).map(one => ({ ...one, serviceId })),
      )
    },
    watch: manifests.watch ? driftWatch : undefined,
  }
}
