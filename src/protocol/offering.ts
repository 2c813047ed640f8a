import type { Read } from '../shape/shape.ts'
import type { offeringShape, planShape, requiresSince } from './offering-shape.ts'

/** A service of the catalog, as code spells it. */
export interface Offering extends Read<typeof offeringShape> {}

export interface Plan extends Read<typeof planShape> {}

export type Requires = keyof typeof requiresSince

export type PlanSchemas = NonNullable<Plan['schemas']>

export function isBindable(offering: Offering, plan: Plan): boolean {
  return plan.bindable ?? offering.bindable
}

export function isPlanUpdateable(offering: Offering, plan: Plan): boolean {
  return plan.planUpdateable ?? offering.planUpdateable ?? false
}
