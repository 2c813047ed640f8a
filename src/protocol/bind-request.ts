import type { JsonObject } from './json.ts'
import { optionalObject, optionalString, requiredString } from './request-fields.ts'

/** PUT /v2/service_instances/:instance_id/service_bindings/:binding_id ("Binding", "Binding Rotation"). */
export interface BindRequest {
  /** Both are absent in a rotation. */
  readonly serviceId?: string
  readonly planId?: string
  readonly context?: JsonObject
  readonly bindResource?: JsonObject
  readonly appGuid?: string
  readonly parameters?: JsonObject
  readonly predecessorId?: string
}

export function parseBind(body: JsonObject): BindRequest {
  const predecessorId = optionalString(body, 'predecessor_binding_id')
  const read = predecessorId === undefined ? requiredString : optionalString
  const serviceId = read(body, 'service_id')
  const planId = read(body, 'plan_id')
  const bindResource = optionalObject(body, 'bind_resource')
  const context = optionalObject(body, 'context')
  const parameters = optionalObject(body, 'parameters')
  // BIND-08: the app is named in bind_resource, or, by older platforms, at the top level.
  const deprecated = optionalString(body, 'app_guid')
  const appGuid = (bindResource === undefined ? undefined : optionalString(bindResource, 'app_guid')) ?? deprecated
  return {
    serviceId,
    planId,
    context,
    bindResource,
    appGuid,
    parameters,
    predecessorId,
  }
}
