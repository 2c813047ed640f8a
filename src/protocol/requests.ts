import { anything, json, text } from '../shape/fields.ts'
import { map, object, optional } from '../shape/shape.ts'
import type { Json, JsonObject } from './json.ts'
import { createReader, type Envelope, readText, required } from './request-fields.ts'

/** The bodies of the platform's requests, each field once: what is parsed, and the types of the client. */

/** What a platform says about itself and its own: fields of it may say nothing, as those of the body may. */
const details = optional(map(anything<Json | undefined>('a value')))
const shared = { context: details, parameters: optional(json()) }
const maintenanceInfo = optional(object({ version: text() }))

export const requests = {
  provision: object({
    serviceId: text(),
    planId: text(),
    organizationGuid: optional(text()),
    spaceGuid: optional(text()),
    ...shared,
    maintenanceInfo,
  }),
  update: object({
    serviceId: text(),
    planId: optional(text()),
    ...shared,
    previousValues: details,
    maintenanceInfo,
  }),
  /** `serviceId` and `planId` are mandatory except in a rotation, which names its predecessor (ROT-05). */
  bind: object({
    serviceId: optional(text()),
    planId: optional(text()),
    ...shared,
    appGuid: optional(text()),
    bindResource: details,
    predecessorBindingId: optional(text()),
  }),
}

/** PUT /v2/service_instances/:instance_id ("Provisioning"). */
export interface ProvisionRequest {
  readonly serviceId: string
  readonly planId: string
  /** The platform's context; `organization_guid` and `space_guid` of the body stand in it too. */
  readonly context: JsonObject
  readonly parameters: JsonObject
  readonly maintenanceVersion?: string
}

const readProvision = createReader(requests.provision)

/** `lenient` takes a request without org and space as it comes; otherwise `context` has to carry them if the body does not. */
export function parseProvision(body: JsonObject, lenient: boolean): ProvisionRequest {
  const { organizationGuid, spaceGuid, context = {}, parameters = {}, maintenanceInfo, ...ids } = readProvision(body)
  if (!lenient && !tellsPlace(context)) {
    if (organizationGuid === undefined) throw required('organization_guid')
    if (spaceGuid === undefined) throw required('space_guid')
  }
  return {
    ...ids,
    context: withPlace(context, organizationGuid, spaceGuid),
    parameters,
    maintenanceVersion: versionOf(maintenanceInfo),
  }
}

/** T-45: without a version, `maintenance_info` says nothing. */
function versionOf(maintenanceInfo: JsonObject | undefined): string | undefined {
  return maintenanceInfo && readText(maintenanceInfo, 'version', 'maintenance_info.version')
}

/** A Kubernetes context has a namespace in place of org and space; any context tells where the instance belongs. */
function tellsPlace(context: JsonObject): boolean {
  const carried = typeof context.organization_guid === 'string' && typeof context.space_guid === 'string'
  return carried || typeof context.namespace === 'string'
}

function withPlace(context: JsonObject, organization?: string, space?: string): JsonObject {
  if (organization === undefined && space === undefined) return context
  const { organization_guid, space_guid } = context
  return { ...context, organization_guid: organization ?? organization_guid, space_guid: space ?? space_guid }
}

/** PATCH /v2/service_instances/:instance_id ("Updating a Service Instance"). */
export interface UpdateRequest extends Omit<Envelope<typeof requests.update>, 'previousValues' | 'maintenanceInfo'> {
  readonly maintenanceVersion?: string
}

const readUpdate = createReader(requests.update)

/** `previous_values` is checked for its shape and never trusted: the broker's own record decides (UPD-14). */
export function parseUpdate(body: JsonObject): UpdateRequest {
  const { serviceId, planId, context, parameters, maintenanceInfo } = readUpdate(body)
  return { serviceId, planId, context, parameters, maintenanceVersion: versionOf(maintenanceInfo) }
}

/** PUT /v2/service_instances/:instance_id/service_bindings/:binding_id ("Binding", "Binding Rotation"). */
export interface BindRequest extends Omit<Envelope<typeof requests.bind>, 'predecessorBindingId'> {
  readonly predecessorId?: string
}

const readBind = createReader(requests.bind)

export function parseBind(body: JsonObject): BindRequest {
  const { predecessorBindingId: predecessorId, ...request } = readBind(body)
  if (predecessorId === undefined) {
    if (request.serviceId === undefined) throw required('service_id')
    if (request.planId === undefined) throw required('plan_id')
  }
  // BIND-08: the app is named in bind_resource, or, by older platforms, at the top level.
  const boundApp = request.bindResource && readText(request.bindResource, 'app_guid', 'bind_resource.app_guid')
  return { ...request, appGuid: boundApp ?? request.appGuid, predecessorId }
}
