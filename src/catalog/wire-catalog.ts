import type { JsonObject } from '../protocol/json.ts'
import { isBindable, type Offering, type Plan, type PlanSchemas } from '../protocol/offering.ts'
import { offeringShape, requiresSince } from '../protocol/offering-shape.ts'
import { toWire } from '../shape/wire.ts'
import { withDraft } from './json-schema-draft.ts'

/** The body of `GET /v2/catalog` for a platform that announced 2.`minor`: only what that version knows. */
export function toWireCatalog(offerings: readonly Offering[], minor: number): JsonObject {
  return { services: offerings.map(offering => toWire(offeringShape, toShown(offering, minor), minor)) }
}

function toShown(offering: Offering, minor: number): Offering {
  return {
    ...offering,
    requires: offering.requires?.filter(word => requiresSince[word] <= minor),
    plans: offering.plans.map(plan => ({ ...plan, schemas: shownSchemas(plan, isBindable(offering, plan)) })),
  }
}

/** A plan that cannot be bound shows no schema for bindings (SCH-07); levels without content are left out. */
function shownSchemas({ schemas }: Plan, bindable: boolean): PlanSchemas | undefined {
  const { serviceInstance: instance, serviceBinding: binding } = schemas ?? {}
  return filled({
    serviceInstance: filled({ create: shownMethod(instance?.create), update: shownMethod(instance?.update) }),
    serviceBinding: bindable ? filled({ create: shownMethod(binding?.create) }) : undefined,
  })
}

type Method = { readonly parameters?: JsonObject }

function shownMethod(method: Method | undefined): Method | undefined {
  return method?.parameters && { parameters: withDraft(method.parameters) }
}

function filled<Fields extends object>(fields: Fields): Fields | undefined {
  return Object.values(fields).some(value => value !== undefined) ? fields : undefined
}
