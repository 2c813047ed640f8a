import type { JsonObject } from './json.ts'

/** OSB API "Catalog Management", in the code's spelling. `catalog/wire-catalog.ts` turns it into what platforms read. */
export interface Catalog {
  readonly services: readonly Offering[]
}

export type Requires = 'syslog_drain' | 'route_forwarding' | 'volume_mount'
export const requirable: readonly Requires[] = ['syslog_drain', 'route_forwarding', 'volume_mount']

export interface Offering {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly bindable: boolean
  readonly tags?: readonly string[]
  readonly requires?: readonly Requires[]
  readonly instancesRetrievable?: boolean
  readonly bindingsRetrievable?: boolean
  readonly allowContextUpdates?: boolean
  readonly metadata?: JsonObject
  readonly dashboardClient?: { readonly id: string; readonly secret: string; readonly redirectUri?: string }
  readonly planUpdateable?: boolean
  readonly plans: readonly Plan[]
}

export interface Plan {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly metadata?: JsonObject
  /** Absent means free. */
  readonly free?: boolean
  /** Absent means as the offering says; `false` is not absent. */
  readonly bindable?: boolean
  readonly bindingRotatable?: boolean
  readonly planUpdateable?: boolean
  readonly schemas?: PlanSchemas
  /** Seconds. */
  readonly maximumPollingDuration?: number
  readonly maintenanceInfo?: { readonly version: string; readonly description?: string }
}

export interface PlanSchemas {
  readonly serviceInstance?: {
    readonly create?: { readonly parameters?: JsonObject }
    readonly update?: { readonly parameters?: JsonObject }
  }
  readonly serviceBinding?: { readonly create?: { readonly parameters?: JsonObject } }
}

export function isBindable(offering: Offering, plan: Plan): boolean {
  return plan.bindable ?? offering.bindable
}

export function isPlanUpdateable(offering: Offering, plan: Plan): boolean {
  return plan.planUpdateable ?? offering.planUpdateable ?? false
}
