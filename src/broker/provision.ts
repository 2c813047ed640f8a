import { randomUUID } from 'node:crypto'
import { decideProvision } from '../domain/decide-provision.ts'
import type { Instance } from '../domain/instance.ts'
import { placeOf } from '../domain/request-hash.ts'
import type { Plan } from '../protocol/offering.ts'
import type { ProvisionRequest } from '../protocol/provision-request.ts'
import { RevisionGoneError } from '../store.ts'
import { accept } from './accept.ts'
import { checkParameters } from './check-parameters.ts'
import type { Asked, BrokerContext, Caller } from './context.ts'
import { ownDashboard, promisedDashboard } from './dashboard.ts'
import { findOffered, type Offered } from './find-offered.ts'
import { createIntent } from './intent.ts'
import { createPlaceholder } from './placeholder.ts'
import type { ResolvedService } from './resolve-services.ts'
import type { ServiceSchemas } from './service-schemas.ts'
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
  broker: BrokerContext,
  caller: Caller,
  asked: Asked<ProvisionRequest>,
): Promise<Provisioned> {
  const { instanceId, request } = asked
  const { serviceId, planId } = request
  for (let attempt = 1; ; attempt += 1) {
    const offered = await findOffered(broker, serviceId, planId).catch(
      async refusal => (await findExisting(broker, instanceId, request)) ?? Promise.reject(refusal),
    )
    const { service, ...found }: Accepting =
      offered.kind === 'now' ? offered : { service: createPlaceholder(serviceId, broker.settings) }
    try {
      return await provisionAs(broker, caller, asked, { service, ...found })
    } catch (error) {
      // The revision was replaced in this very moment: the request gets the new one.
      if (!(error instanceof RevisionGoneError) || attempt === 5) throw error
      await broker.registered?.refresh()
    }
  }
}

/** Instances outlive the offer: a repeated request for one of them is answered as before. */
async function findExisting(
  broker: BrokerContext,
  instanceId: string,
  { serviceId, planId }: ProvisionRequest,
): Promise<Offered | undefined> {
  const instance = await broker.store.instance(instanceId)
  if (instance?.revisionId === undefined || instance.serviceId !== serviceId) return undefined
  const service = broker.registered?.at(instance.revisionId)
  const found = service?.plans.get(planId)
  return service === undefined || found === undefined ? undefined : { kind: 'now', service, ...found }
}

/** Without a plan, the service is not known yet. Everything else is then checked when it is. */
type Accepting = { readonly service: ResolvedService; readonly plan?: Plan; readonly schemas?: ServiceSchemas }

async function provisionAs(
  broker: BrokerContext,
  caller: Caller,
  { instanceId, request, acceptsIncomplete }: Asked<ProvisionRequest>,
  { service, plan, schemas = {} }: Accepting,
): Promise<Provisioned> {
  const parameters = await checkParameters(schemas.create, request.parameters)
  const { serviceId, planId, context, maintenanceVersion } = request
  const attributes = { serviceId, planId, parameters: request.parameters, place: placeOf(context) }
  const catalogMaintenance = plan?.maintenanceInfo?.version
  const dashboardUrl = ownDashboard(service, {
    id: instanceId,
    serviceId,
    planId,
    platform: caller.platform,
    context,
    parameters: request.parameters,
  })
  const intent = {
    ...createIntent(broker, caller, {
      action: 'provision',
      instanceId,
      service,
      plan,
      attributes,
      acceptsIncomplete,
    }),
    planId,
    context,
    parameters,
    ...(maintenanceVersion === undefined
      ? {}
      : plan === undefined
        ? { input: { maintenanceVersion } }
        : { requestedMaintenance: maintenanceVersion }),
    catalogMaintenance,
    revisionId: service.revisionId,
    dashboardUrl,
    dashboardToken: randomUUID(),
  }
  const answer = await accept(broker, { instanceId }, snapshot => decideProvision(snapshot, intent), caller)
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
    dashboardUrl: promised,
  }
}
