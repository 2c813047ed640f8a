import type { JsonObject } from './json.ts'
import { createReader, type Envelope, readText, required } from './request-fields.ts'
import { requests } from './requests.ts'

/** PUT /v2/service_instances/:instance_id/service_bindings/:binding_id ("Binding", "Binding Rotation"). */
export interface BindRequest extends Omit<Envelope<typeof requests.bind>, 'predecessorBindingId'> {
  readonly predecessorId?: string
}

const read = createReader(requests.bind)

export function parseBind(body: JsonObject): BindRequest {
  const { predecessorBindingId: predecessorId, ...request } = read(body)
  if (predecessorId === undefined) {
    if (request.serviceId === undefined) throw required('service_id')
    if (request.planId === undefined) throw required('plan_id')
  }
  // BIND-08: the app is named in bind_resource, or, by older platforms, at the top level.
  const boundApp = request.bindResource && readText(request.bindResource, 'app_guid')
  return { ...request, appGuid: boundApp ?? request.appGuid, predecessorId }
}
