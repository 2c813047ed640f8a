import type { RegisteredService } from './catalog-state.ts'

/** What a provision of a retired service gets: refused at once, provisioned all the same, or accepted and then failed. */
export type RetiredPlans = 'reject' | 'accept' | 'fail-async'

export interface ProvisionSettings {
  readonly retiredPlans: RetiredPlans
  /** Whether every registry has answered, ever. */
  readonly synced: boolean
}

/**
 * `run`: pin the instance to the revision. `wait`: accept, and ask again until every registry has answered; what was accepted
 * and is then refused has failed with the reason. `fail-async`: accept, and fail with the reason.
 */
export type Provisionability =
  | { readonly kind: 'run'; readonly revisionId: string }
  | { readonly kind: 'wait' }
  | { readonly kind: 'reject' | 'fail-async'; readonly reason: string }

/** Whether a service that came from a registry can be provisioned; undefined is one that is not (yet) known. */
export function provisionability(
  service: RegisteredService | undefined,
  { retiredPlans, synced }: ProvisionSettings,
): Provisionability {
  if (service !== undefined && (service.retiredAt === undefined || retiredPlans === 'accept'))
    return { kind: 'run', revisionId: service.revisionId }
  if (!synced) return { kind: 'wait' }
  if (service === undefined)
    return { kind: 'reject', reason: 'No registry offers this service: read the catalog again.' }
  return {
    kind: retiredPlans === 'fail-async' ? 'fail-async' : 'reject',
    reason: `Registry ${service.registry} no longer offers this service: read the catalog again. Existing instances are not affected.`,
  }
}
