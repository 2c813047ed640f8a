import type { JsonObject } from './json.ts'
import { maintenanceVersion, malformed, optionalObject, optionalString, requiredString } from './request-fields.ts'

/** PUT /v2/service_instances/:instance_id ("Provisioning"). */
export interface ProvisionRequest {
  readonly serviceId: string
  readonly planId: string
  /** The platform's context; `organization_guid` and `space_guid` of the body stand in it too. */
  readonly context: JsonObject
  readonly parameters: JsonObject
  readonly maintenanceVersion?: string
}

/** `lenient` takes a request without org and space as it comes; otherwise `context` has to carry them if the body does not. */
export function parseProvision(body: JsonObject, lenient: boolean): ProvisionRequest {
  const serviceId = requiredString(body, 'service_id')
  const planId = requiredString(body, 'plan_id')
  const given = optionalObject(body, 'context') ?? {}
  const context = { ...given, ...place(body, given, lenient) }
  const version = maintenanceVersion(body)
  return {
    serviceId,
    planId,
    context,
    parameters: optionalObject(body, 'parameters') ?? {},
    maintenanceVersion: version,
  }
}

/** A Kubernetes context has a namespace in place of org and space; any context tells where the instance belongs. */
function place(body: JsonObject, context: JsonObject, lenient: boolean): JsonObject {
  const organization = optionalString(body, 'organization_guid')
  const space = optionalString(body, 'space_guid')
  const carried = typeof context.organization_guid === 'string' && typeof context.space_guid === 'string'
  const elsewhere = carried || typeof context.namespace === 'string'
  if (!lenient && !elsewhere) {
    if (organization === undefined) throw malformed('organization_guid is required')
    if (space === undefined) throw malformed('space_guid is required')
  }
  return {
    organization_guid: organization,
    space_guid: space,
  }
}
