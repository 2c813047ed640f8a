import { decideDeprovision } from '../domain/decide-deprovision.ts'
import type { Plan } from '../protocol/catalog.ts'
import type { DeletionRequest } from '../protocol/deletion.ts'
import { malformed } from '../protocol/fields.ts'
import type { Broker, Caller } from './broker.ts'
import { findPlan } from './find-plan.ts'
import { createIntent } from './intent.ts'
import { waitForEnd } from './wait-for-end.ts'

export type Deleted = { readonly kind: 'deleted' } | { readonly kind: 'accepted'; readonly operation: string }

/** DELETE /v2/service_instances/:instance_id */
export async function deprovision(
  broker: Broker,
  caller: Caller,
  instanceId: string,
  request: DeletionRequest,
  acceptsIncomplete: boolean,
): Promise<Deleted> {
  const { settings, observer } = broker
  const instance = await broker.store.instance(instanceId)
  // A plan that left the catalog must still be deletable (DEP-17): the instance's own record vouches for its ids.
  if (instance?.planId !== request.planId || instance.serviceId !== request.serviceId)
    findPlan(broker.services, request.serviceId, request.planId)
  const service = broker.services.find(request.serviceId)
  if (service === undefined) throw malformed('service_id is not in the catalog of this broker')
  const intent = {
    ...createIntent(broker, caller, {
      action: 'deprovision',
      instanceId,
      service,
      ...pick(service.plans.get(request.planId)),
      attributes: {},
      acceptsIncomplete,
    }),
    cascade: settings.cascadeDelete,
    forceUnknown: settings.forceDeleteUnknownInstances,
  }
  const answer = await broker.store.accept({ instanceId }, snapshot => decideDeprovision(snapshot, intent))
  if (answer.kind === 'forced') {
    observer.warn('unknown instance counted as deleted: forceDeleteUnknown is on', { instance: instanceId })
    return { kind: 'deleted' }
  }
  if (!answer.wait) return { kind: 'accepted', operation: answer.operation.id }
  await waitForEnd(broker, answer.operation.id)
  return { kind: 'deleted' }
}

export function pick(found: { readonly plan: Plan } | undefined): { readonly plan?: Plan } {
  return found === undefined ? {} : { plan: found.plan }
}
