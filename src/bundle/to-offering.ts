import type { Offering, Plan } from '../protocol/offering.ts'
import { withForms } from './form.ts'
import { fullName, planIdOf, serviceIdOf } from './names.ts'
import type { BundlePlan, BundleSpec } from './spec.ts'
import { toCreateSchema, toUpdateSchema } from './to-schema.ts'

/** What the catalog shows of a bundle that was found in the registry of this name. */
export function toOffering(spec: BundleSpec, { registry }: { readonly registry: string }): Offering {
  const name = fullName(registry, spec.name)
  const bindable = spec.bindable || spec.plans.some(plan => plan.bindable === true)
  return {
    id: serviceIdOf(name),
    name,
    description: spec.description,
    bindable: spec.bindable,
    tags: spec.tags,
    metadata: structuredClone(spec.metadata),
    instancesRetrievable: true,
    ...(bindable ? { bindingsRetrievable: true } : {}),
    planUpdateable: spec.plans.some(({ updatesTo }) => updatesTo.length > 0),
    plans: spec.plans.map(plan => toPlan(spec, plan, name)),
  }
}

/** An operation takes longer than its action: an image is pulled, a place is found, and what is left is collected. */
const aroundAction = 15 * 60_000

function toPlan(spec: BundleSpec, plan: BundlePlan, offeringName: string): Plan {
  const bindable = plan.bindable ?? spec.bindable
  const longest = Math.max(0, ...Object.values(spec.timeouts))
  return {
    id: planIdOf(offeringName, plan.name),
    name: plan.name,
    description: plan.description,
    metadata: withForms(plan, bindable),
    free: plan.free,
    ...(plan.bindable === undefined ? {} : { bindable: plan.bindable }),
    planUpdateable: plan.updatesTo.length > 0,
    schemas: {
      serviceInstance: {
        create: { parameters: toCreateSchema(plan.parameters) },
        update: { parameters: toUpdateSchema(plan.parameters) },
      },
      ...(bindable ? { serviceBinding: { create: { parameters: toCreateSchema(plan.bindParameters) } } } : {}),
    },
    ...(longest === 0 ? {} : { maximumPollingDuration: Math.ceil((longest + aroundAction) / 1000) }),
    ...(spec.bundleVersion === undefined ? {} : { maintenanceInfo: { version: spec.bundleVersion } }),
  }
}
