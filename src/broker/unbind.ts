import { decideUnbind } from '../domain/decide-unbind.ts'
import type { DeletionRequest } from '../protocol/deletion.ts'
import { malformed } from '../protocol/fields.ts'
import type { Broker, Caller } from './broker.ts'
import { type Deleted, pick } from './deprovision.ts'
import { findPlan } from './find-plan.ts'
import { createIntent } from './intent.ts'
import { waitForEnd } from './wait-for-end.ts'

/** DELETE /v2/service_instances/:instance_id/service_bindings/:binding_id */
export async function unbind(
  broker: Broker,
  caller: Caller,
  instanceId: string,
  bindingId: string,
  request: DeletionRequest,
  acceptsIncomplete: boolean,
): Promise<Deleted> {
  const { settings, observer } = broker
  const instance = await broker.store.instance(instanceId)
  // UNB-13: any plan of the service will do, since the instance may have changed its plan after the bind.
  if (instance?.planId !== request.planId || instance.serviceId !== request.serviceId)
    findPlan(broker.services, request.serviceId, request.planId)
  const service = broker.services.find(request.serviceId)
  if (service === undefined) throw malformed('service_id is not in the catalog of this broker')
  const intent = {
    ...createIntent(broker, caller, {
      action: 'unbind',
      instanceId,
      service,
      ...pick(service.plans.get(request.planId)),
      attributes: {},
      acceptsIncomplete,
    }),
    bindingId,
    forceUnknown: settings.forceDeleteUnknownBindings,
  }
  const answer = await broker.store.accept({ instanceId, bindingId }, snapshot => decideUnbind(snapshot, intent))
  if (answer.kind === 'forced') {
    observer.warn('unknown binding counted as deleted: forceDeleteUnknown is on', {
      instance: instanceId,
      binding: bindingId,
    })
    return { kind: 'deleted' }
  }
  if (!answer.wait) return { kind: 'accepted', operation: answer.operation.id }
  await waitForEnd(broker, answer.operation.id)
  return { kind: 'deleted' }
}
