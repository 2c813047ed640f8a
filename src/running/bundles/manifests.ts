/** Services that consist of objects of a cluster: what they are given, and what looks after what they have made. */
import { parseBundleSpec } from '../../bundle/spec.ts'
import type { Clock } from '../../clock.ts'
import type { Revision } from '../../domain/revision.ts'
import { createManifestsDriver, kindsOf } from '../../driver/manifests/manifests-driver.ts'
import type { ManifestParts } from '../../driver/manifests/parts.ts'
import { createDriftWatch } from '../../driver/manifests/watch-drift.ts'
import type { OpenCluster } from '../../kubernetes/open-later.ts'
import { createRedactor } from '../../sensitive/redact.ts'
import type { ConfigSettings } from '../../settings/config.ts'

type Given = Pick<ManifestParts, 'storeNow' | 'secretsFor' | 'brokerLabel'> & {
  readonly clock: Clock
  readonly open: () => Promise<OpenCluster>
}

export function openManifests(
  { manifests }: Pick<ConfigSettings['bundles'], 'manifests'>,
  { clock, open, ...given }: Given,
) {
  let kinds: ReturnType<typeof kindsOf> = []
  const driftWatch = createDriftWatch({ open, clock, brokerLabel: given.brokerLabel, kinds: () => kinds })
  return {
    drive: createManifestsDriver({ ...given, open, limits: manifests, createRedactor }),
    /** To be told of every catalog that was read. */
    look(revisions: readonly Pick<Revision, 'source' | 'fullName'>[]): void {
      // Most have none, and are not read again for it.
      const specs = revisions.filter(({ source }) => source.includes('manifests'))
      const all = specs.flatMap(({ source, fullName }) => kindsOf(parseBundleSpec(source, fullName).spec ?? {}))
      kinds = all.filter(({ mode }) => mode === 'object')
    },
    watch: manifests.watch ? driftWatch : undefined,
  }
}
