import type { JsonObject } from './json.ts'
import { createReader, maintenanceVersion, required } from './request-fields.ts'
import { requests } from './requests.ts'

/** PUT /v2/service_instances/:instance_id ("Provisioning"). */
export interface ProvisionRequest {
  readonly serviceId: string
  readonly planId: string
  /** The platform's context; `organization_guid` and `space_guid` of the body stand in it too. */
  readonly context: JsonObject
  readonly parameters: JsonObject
  readonly maintenanceVersion?: string
}

const read = createReader(requests.provision)

/** `lenient` takes a request without org and space as it comes; otherwise `context` has to carry them if the body does not. */
export function parseProvision(body: JsonObject, lenient: boolean): ProvisionRequest {
  const { serviceId, planId, organizationGuid, spaceGuid, context = {}, parameters = {}, maintenanceInfo } = read(body)
  if (!lenient && !tellsPlace(context)) {
    if (organizationGuid === undefined) throw required('organization_guid')
    if (spaceGuid === undefined) throw required('space_guid')
  }
  return {
    serviceId,
    planId,
    context: withPlace(context, organizationGuid, spaceGuid),
    parameters,
    maintenanceVersion: maintenanceVersion(maintenanceInfo),
  }
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
