import { isJsonObject, type JsonObject } from './json.ts'
import { maintenanceVersion, malformed, optionalObject, optionalString, requiredString } from './request-fields.ts'

/** PATCH /v2/service_instances/:instance_id ("Updating a Service Instance"). */
export interface UpdateRequest {
  readonly serviceId: string
  readonly planId?: string
  readonly context?: JsonObject
  readonly parameters?: JsonObject
  readonly maintenanceVersion?: string
}

/** `previous_values` is checked for its shape and never trusted: the broker's own record decides (UPD-14). */
export function parseUpdate(body: JsonObject): UpdateRequest {
  const serviceId = requiredString(body, 'service_id')
  const planId = optionalString(body, 'plan_id')
  const context = optionalObject(body, 'context')
  const parameters = optionalObject(body, 'parameters')
  const version = maintenanceVersion(body)
  const previous = body.previous_values
  if (previous !== undefined && previous !== null && !isJsonObject(previous))
    throw malformed('previous_values must be an object')
  return {
    serviceId,
    planId,
    context,
    parameters,
    maintenanceVersion: version,
  }
}
