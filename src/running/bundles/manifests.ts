/** Services that consist of objects of a cluster: what they are given, and what looks after what they have made. */
import { parseBundleSpec } from '../../bundle/spec.ts'
import type { Clock } from '../../clock.ts'
import type { Revision } from '../../domain/revision.ts'
import { createManifestsDriver, keptBy } from '../../driver/manifests/manifests-driver.ts'
import type { Kept, ManifestParts } from '../../driver/manifests/parts.ts'
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
  let kept: readonly (Kept & Pick<Revision, 'serviceId'>)[] = []
  const driftWatch = createDriftWatch({ open, clock, brokerId: given.brokerId, kinds: () => kept })
  return {
    drive: createManifestsDriver({
      ...given,
      open,
      limits: manifests,
      kinds: serviceId => kept.filter(one => one.serviceId === serviceId),
      createRedactor,
    }),
    /** To be told of every catalog that was read. */
    look(revisions: readonly Pick<Revision, 'serviceId' | 'source' | 'fullName'>[]): void {
      // Most have none, and are not read again for it.
      const specs = revisions.filter(({ source }) => source.includes('manifests'))
      kept = specs.flatMap(({ serviceId, source, fullName }) =>
        keptBy(parseBundleSpec(source, fullName).spec ?? {}).map(one => ({ ...one, serviceId })),
      )
    },
    watch: manifests.watch ? driftWatch : undefined,
  }
}
