import type { JsonObject } from './json.ts'
import { createReader, type Envelope, maintenanceVersion } from './request-fields.ts'
import { requests } from './requests.ts'

/** PATCH /v2/service_instances/:instance_id ("Updating a Service Instance"). */
export interface UpdateRequest extends Omit<Envelope<typeof requests.update>, 'previousValues' | 'maintenanceInfo'> {
  readonly maintenanceVersion?: string
}

const read = createReader(requests.update)

/** `previous_values` is checked for its shape and never trusted: the broker's own record decides (UPD-14). */
export function parseUpdate(body: JsonObject): UpdateRequest {
  const { serviceId, planId, context, parameters, maintenanceInfo } = read(body)
  return { serviceId, planId, context, parameters, maintenanceVersion: maintenanceVersion(maintenanceInfo) }
}
