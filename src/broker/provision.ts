import { randomUUID } from 'node:crypto'
import { decideProvision } from '../domain/decide-provision.ts'
import type { Instance } from '../domain/instance.ts'
import { placeOf } from '../domain/request-hash.ts'
import type { ProvisionRequest } from '../protocol/provision.ts'
import type { Broker, Caller } from './broker.ts'
import { checkParameters } from './check-parameters.ts'
import { ownDashboard, promisedDashboard } from './dashboard.ts'
import { findPlan } from './find-plan.ts'
import { createIntent } from './intent.ts'
import { waitForEnd } from './wait-for-end.ts'

export type Provisioned =
  | { readonly kind: 'exists' | 'created'; readonly instance: Instance }
  | {
      readonly kind: 'accepted'
      readonly instance: Instance
      readonly operation: string
      readonly dashboardUrl?: string
    }

/** PUT /v2/service_instances/:instance_id */
export async function provision(
  broker: Broker,
  caller: Caller,
  instanceId: string,
  request: ProvisionRequest,
  acceptsIncomplete: boolean,
): Promise<Provisioned> {
  const { service, plan, schemas } = findPlan(broker.services, request.serviceId, request.planId)
  const parameters = await checkParameters(schemas.create, request.parameters)
  const { serviceId, planId, context } = request
  const attributes = { serviceId, planId, parameters: request.parameters, place: placeOf(context) }
  const catalogMaintenance = plan.maintenanceInfo?.version
  const dashboardUrl = ownDashboard(service, {
    id: instanceId,
    serviceId,
    planId,
    platform: caller.platform,
    context,
    parameters: request.parameters,
  })
  const intent = {
    ...createIntent(broker, caller, { action: 'provision', instanceId, service, plan, attributes, acceptsIncomplete }),
    planId,
    context,
    parameters,
    ...(request.maintenanceVersion === undefined ? {} : { requestedMaintenance: request.maintenanceVersion }),
    ...(catalogMaintenance === undefined ? {} : { catalogMaintenance }),
    ...(dashboardUrl === undefined ? {} : { dashboardUrl }),
    dashboardToken: randomUUID(),
  }
  const answer = await broker.store.accept({ instanceId }, snapshot => decideProvision(snapshot, intent))
  if (answer.kind === 'exists') return answer
  if (answer.wait) {
    await waitForEnd(broker, answer.operation)
    return { kind: 'created', instance: (await broker.store.instance(instanceId)) ?? answer.instance }
  }
  const promised = promisedDashboard(service, answer.instance, caller.baseUrl())
  return {
    kind: 'accepted',
    instance: answer.instance,
    operation: answer.operation.id,
    ...(promised === undefined ? {} : { dashboardUrl: promised }),
  }
}
