import type { CompiledManifests } from '../../bundle/manifest-templates.ts'
import type { BundleSpec } from '../../bundle/spec.ts'
import type { Revision } from '../../domain/revision.ts'
import type { Kind } from '../../kubernetes/kinds.ts'
import type { OpenCluster } from '../../kubernetes/open-later.ts'
import type { BundleParts } from '../bundle/parts.ts'
import type { SensitiveNames } from '../bundle/secrets.ts'
import type { ManifestLimits } from './limits.ts'

/** What the operator gives to services that consist of manifests. */
export interface ManifestParts extends Pick<BundleParts, 'storeNow' | 'secretsFor'> {
  /** What is written on all that is made: the same on every replica, and no other broker has it. */
  brokerId(): Promise<string>
  /** Connected when it is needed first. */
  open(): Promise<OpenCluster>
  readonly limits: ManifestLimits
  /** What the known revisions of a service make or patch. */
  kinds(serviceId: string): readonly Kept[]
  /** Makes something that cuts these secrets out of a text. */
  readonly createRedactor: (secrets: readonly string[]) => (text: string) => string
}

/** A kind of objects, as templates name it. */
export type Made = Pick<Kind, 'apiVersion' | 'kind'>

/** The same, and whether they are made or patched. */
export interface Kept extends Made {
  readonly mode: 'object' | 'patch'
}

/** One revision, ready to be used. */
export interface ManifestService {
  readonly parts: ManifestParts
  readonly revision: Revision
  readonly spec: BundleSpec
  readonly sensitive: SensitiveNames
  readonly compiled: () => Promise<CompiledManifests>
}
