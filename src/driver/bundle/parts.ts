import type { BundleSpec } from '../../bundle/spec.ts'
import type { Clock } from '../../clock.ts'
import type { Revision } from '../../domain/revision.ts'
import type { Observer } from '../../observer.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { Runtime, SandboxLimits, SandboxProgram, SandboxSpec } from '../../sandbox.ts'
import type { SensitiveNames } from './secrets.ts'

/** A runtime and where its sandboxes live: processes that name the same host reach the same ones. */
export interface HostedRuntime {
  readonly runtime: Runtime
  readonly host: string
}

/** What the operator gives to bundles. */
export interface BundleParts {
  /** One of `runtimes`. */
  runtimeFor(revision: Revision): HostedRuntime
  /** What is run; asked once per start, so it may look for credentials or copy a folder. */
  programFor(revision: Revision): Promise<SandboxProgram>
  /** All that this process reaches: what an earlier operation left is removed from the one that it is in. */
  readonly runtimes: readonly HostedRuntime[]
  readonly clock: Clock
  /** The store's clock, which the ledger's times are compared with; `clock` where there is no other. */
  readonly storeNow?: () => number
  /** `time` where a bundle asks for none; the others are also the most that a bundle gets. */
  readonly limits: SandboxLimits
  readonly network: SandboxSpec['network']
  /** Proxies and the like; no secrets. */
  readonly env: Readonly<Record<string, string>>
  readonly helpers: Readonly<Record<string, string>>
  /** The operator's secrets for the bundles of this full name. They win over parameters of the same name. */
  secretsFor(fullName: string): Promise<JsonObject>
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

/** The runtime that a sandbox is in; undefined where another machine has it. */
export function hostOf(
  { runtimes }: BundleParts,
  sandbox: { readonly host: string; readonly runtime: string },
): HostedRuntime | undefined {
  return runtimes.find(({ host, runtime }) => host === sandbox.host && runtime.type === sandbox.runtime)
}

export function storeNow({ storeNow, clock }: BundleParts): number {
  return storeNow === undefined ? clock.now() : storeNow()
}
