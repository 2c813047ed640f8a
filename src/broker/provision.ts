import { randomUUID } from 'node:crypto'
import { decideProvision } from '../domain/decide-provision.ts'
import { type Instance, isKnown } from '../domain/instance.ts'
import { isLeft, serviceLeft } from '../domain/left-service.ts'
import { provisionAttributes } from '../domain/request-hash.ts'
import type { ProvisionRequest } from '../protocol/requests.ts'
import { RevisionGoneError } from '../store.ts'
import { type AcceptedInstance, accept, createIntent } from './accept.ts'
import type { Asked, BrokerContext, Caller } from './context.ts'
import { ownDashboard, promisedDashboard } from './dashboard.ts'
import { findOffered, type Offered } from './find-offered.ts'
import type { FoundPlan } from './find-plan.ts'
import { createPlaceholder } from './resolve-services.ts'
import { checkParameters } from './service-schemas.ts'
import { waitForEnd } from './wait-for-end.ts'

export type Provisioned = { readonly kind: 'exists' | 'created'; readonly instance: Instance } | AcceptedInstance

/** PUT /v2/service_instances/:instance_id */
export async function provision(
  broker: BrokerContext,
  caller: Caller,
  asked: Asked<ProvisionRequest>,
): Promise<Provisioned> {
  const { serviceId, planId } = asked.request
  for (let attempt = 1; ; attempt += 1) {
    const offered = await findOffered(broker, serviceId, planId).catch(
      async refusal => (await findExisting(broker, caller, asked)) ?? Promise.reject(refusal),
    )
    const accepting = offered.kind === 'now' ? offered : { service: createPlaceholder(serviceId, broker.settings) }
    try {
      return await provisionAs(broker, caller, asked, accepting)
    } catch (error) {
      // The revision was replaced in this very moment: the request gets the new one.
      if (!(error instanceof RevisionGoneError) || attempt === 5) throw error
      await broker.registered?.refresh()
    }
  }
}

/** Instances outlive the offer: a repeated request for one of them is answered as before, if its service is still here. */
async function findExisting(
  broker: BrokerContext,
  { platform }: Caller,
  { instanceId, request: { serviceId, planId } }: Asked<ProvisionRequest>,
): Promise<Offered | undefined> {
  const instance = await broker.store.instance(instanceId)
  if (!isKnown(instance, platform) || instance.serviceId !== serviceId) return undefined
  const service = broker.services.of(instance)
  if (service === undefined && isLeft(instance, broker.registered === undefined ? 'left' : 'later'))
    throw serviceLeft(serviceId, 'new')
  const found = service?.plans.get(planId)
  return service === undefined || found === undefined ? undefined : { kind: 'now', service, ...found }
}

/** Without a plan, the service is not known yet. Everything else is then checked when it is. */
type Accepting = Pick<FoundPlan, 'service'> & Partial<FoundPlan>

async function provisionAs(
  broker: BrokerContext,
  caller: Caller,
  { instanceId, request, acceptsIncomplete }: Asked<ProvisionRequest>,
  { service, plan, schemas = {} }: Accepting,
): Promise<Provisioned> {
  const parameters = await checkParameters(schemas.create, request.parameters)
  const { serviceId, planId, context, maintenanceVersion } = request
  const attributes = provisionAttributes(request)
  const { platform } = caller
  const asked = { id: instanceId, serviceId, planId, platform, context, parameters: request.parameters }
  const intent = {
    planId,
    context,
    parameters,
    // Without a plan it is checked later, when the service is known.
    input: plan === undefined && maintenanceVersion !== undefined ? { maintenanceVersion } : undefined,
    requestedMaintenance: plan && maintenanceVersion,
    catalogMaintenance: plan?.maintenanceInfo?.version,
    revisionId: service.revisionId,
    dashboardUrl: ownDashboard(service, asked),
    dashboardToken: randomUUID(),
    ...createIntent(broker, caller, { action: 'provision', instanceId, service, plan, attributes, acceptsIncomplete }),
  }
  const answer = await broker.queue.enter({ action: 'provision', ...intent }, check =>
    accept(broker, { instanceId }, snapshot => check(decideProvision(snapshot, intent)), caller),
  )
  if (answer.kind === 'exists') return answer
  if (answer.wait) {
    await waitForEnd(broker, answer.operation)
    return { kind: 'created', instance: (await broker.store.instance(instanceId)) ?? answer.instance }
  }
  const { operation, instance } = answer
  const promised = promisedDashboard(service, instance, caller.baseUrl())
  return { kind: 'accepted', instance, operation: operation.id, dashboardUrl: promised }
}
