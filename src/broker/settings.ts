import type { RetiredPlans } from '../domain/provisionability.ts'
import type { RetryPolicy } from '../domain/retry.ts'

/** The choices of docs/reference/configuration.md that use cases need, in the code's units. */
export interface BrokerSettings {
  readonly missingVersionStatus: 400 | 412
  readonly requireOrgAndSpace: boolean
  readonly pollAfterDelete: 'succeeded' | 'gone'
  readonly rememberDeletedMs: number
  readonly cascadeDelete: boolean
  readonly forceDeleteUnknownInstances: boolean
  readonly forceDeleteUnknownBindings: boolean
  /** How long a synchronous request waits for its operation. */
  readonly syncTimeoutMs: number
  readonly leaseMs: number
  readonly callTimeoutMs: number
  readonly observeEveryMs: number
  readonly timeoutsMs: Readonly<Record<'provision' | 'update' | 'deprovision' | 'bind' | 'unbind', number>>
  readonly retry: RetryPolicy
  readonly chores: ChoreSettings
  /** What a provision of a plan gets that its registry no longer offers. */
  readonly retiredPlans: RetiredPlans
}

/** When upkeep is done. Patterns are cron patterns of 5 or 6 fields; `-` means off. What is left out has its default. */
export interface ChoreSettings {
  /** The IANA name of the time zone that patterns are read in; `UTC`. */
  readonly timeZone?: string
  /** Looks for due observations; every five seconds, where a service has `observe`. */
  readonly observe?: string
  /** Asks the registries, where there are any; every ten minutes, and when a broker starts. */
  readonly sync?: string
  /** Removes what was deleted `purgeAfterMs` ago; every hour. */
  readonly purge?: string
  /** Thirty days; never shorter than `rememberDeletedMs`. */
  readonly purgeAfterMs?: number
  /** Removes finished operations; off. */
  readonly cleanUp?: { readonly instances?: CleanUpSettings; readonly bindings?: CleanUpSettings }
}

export interface CleanUpSettings {
  /** How long ago an operation has ended at least; three days. */
  readonly ageMs?: number
  readonly all?: string
  readonly succeeded?: string
  readonly failed?: string
}

export const defaultSettings: BrokerSettings = {
  missingVersionStatus: 412,
  requireOrgAndSpace: true,
  pollAfterDelete: 'succeeded',
  rememberDeletedMs: 72 * 3_600_000,
  cascadeDelete: false,
  forceDeleteUnknownInstances: false,
  forceDeleteUnknownBindings: false,
  syncTimeoutMs: 55_000,
  leaseMs: 30_000,
  callTimeoutMs: 12_000,
  observeEveryMs: 300_000,
  timeoutsMs: {
    provision: 3_600_000,
    update: 3_600_000,
    deprovision: 86_400_000,
    bind: 3_600_000,
    unbind: 86_400_000,
  },
  retry: { initialMs: 1_000, factor: 2, maxMs: 60_000 },
  chores: {},
  retiredPlans: 'reject',
}
