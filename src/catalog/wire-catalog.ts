import { catalogFields, requiresSince, trimFields } from '../protocol/api-version.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { isBindable, type Offering, type Plan } from '../protocol/offering.ts'
import { withDraft } from './json-schema-draft.ts'

/** The body of `GET /v2/catalog` for a platform that announced 2.`minor`: only what that version knows. */
export function toWireCatalog(offerings: readonly Offering[], minor: number): JsonObject {
  return trimFields({ services: offerings.map(offering => toWireOffering(offering, minor)) }, catalogFields, minor)
}

function toWireOffering(offering: Offering, minor: number): JsonObject {
  const { requires, dashboardClient: client } = offering
  return present({
    id: offering.id,
    name: offering.name,
    description: offering.description,
    tags: offering.tags,
    requires: requires?.filter(word => requiresSince[word] <= minor),
    bindable: offering.bindable,
    instances_retrievable: offering.instancesRetrievable,
    bindings_retrievable: offering.bindingsRetrievable,
    allow_context_updates: offering.allowContextUpdates,
    metadata: offering.metadata,
    dashboard_client: client && present({ id: client.id, secret: client.secret, redirect_uri: client.redirectUri }),
    plan_updateable: offering.planUpdateable,
    plans: offering.plans.map(plan => toWirePlan(offering, plan)),
  })
}

function toWirePlan(offering: Offering, plan: Plan): JsonObject {
  const info = plan.maintenanceInfo
  return present({
    id: plan.id,
    name: plan.name,
    description: plan.description,
    metadata: plan.metadata,
    free: plan.free,
    bindable: plan.bindable,
    binding_rotatable: plan.bindingRotatable,
    plan_updateable: plan.planUpdateable,
    schemas: toWireSchemas(plan, isBindable(offering, plan)),
    maximum_polling_duration: plan.maximumPollingDuration,
    maintenance_info: info && present({ version: info.version, description: info.description }),
  })
}

/** A plan that cannot be bound shows no schema for bindings (SCH-07); levels without content are left out. */
function toWireSchemas({ schemas }: Plan, bindable: boolean): JsonObject | undefined {
  const { serviceInstance: instance, serviceBinding: binding } = schemas ?? {}
  return filled({
    service_instance: filled({ create: toWireMethod(instance?.create), update: toWireMethod(instance?.update) }),
    service_binding: bindable ? filled({ create: toWireMethod(binding?.create) }) : undefined,
  })
}

function toWireMethod(method: { readonly parameters?: JsonObject } | undefined): JsonObject | undefined {
  return method?.parameters && { parameters: withDraft(method.parameters) }
}

function present(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function filled(fields: Readonly<Record<string, Json | undefined>>): JsonObject | undefined {
  const object = present(fields)
  return Object.keys(object).length === 0 ? undefined : object
}
