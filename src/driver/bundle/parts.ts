import type { BundleSpec } from '../../bundle/spec.ts'
import type { Clock } from '../../clock.ts'
import type { Revision } from '../../domain/revision.ts'
import type { Observer } from '../../observer.ts'
import type { NamedSecret, Runtime, SandboxLimits, SandboxProgram, SandboxSpec } from '../../sandbox.ts'
import type { SensitiveNames } from './secrets.ts'

/** What the operator gives to bundles. */
export interface BundleParts {
  /** A bundle runs in the first one that runs its kind of program. */
  readonly runtimes: readonly Runtime[]
  /** This host's name in the ledger. Processes with the same one reach the same sandboxes. */
  readonly host: string
  /** What is run. Asked before each start, so it may look for credentials or copy a folder. */
  programFor(bundle: Pick<Bundle, 'revision' | 'spec'>): Promise<SandboxProgram>
  readonly clock: Clock
  /** The store's clock, which the ledger's times are compared with. */
  readonly storeNow: () => number
  /** `time` where a bundle asks for none; the others are also the most that a bundle gets. */
  readonly limits: SandboxLimits
  readonly network: SandboxSpec['network']
  /** Proxies and the like; no secrets. */
  readonly env: Readonly<Record<string, string>>
  readonly helpers: Readonly<Record<string, string>>
  /** The operator's secrets for the bundles of this full name. They win over parameters of the same name. */
  secretsFor(fullName: string): Promise<readonly NamedSecret[]>
  /** A sandbox that failed stays until the next action of its instance or binding. */
  readonly keepOnError: boolean
  /** Tells the sandboxes of this broker from those of another one on the same machine. */
  readonly brokerLabel: string
  readonly observer: Observer
}

/** One revision, ready to run. */
export interface Bundle {
  readonly parts: BundleParts
  readonly revision: Revision
  readonly spec: BundleSpec
  readonly sensitive: SensitiveNames
}
