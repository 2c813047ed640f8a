import { decideUnbind } from '../domain/decide-unbind.ts'
import type { DeletionRequest } from '../protocol/query.ts'
import { accept } from './accept.ts'
import type { AskedOfBinding, BrokerContext, Caller } from './context.ts'
import type { Deleted } from './deprovision.ts'
import { findPlanInUse } from './find-plan.ts'
import { createIntent } from './intent.ts'
import { waitForEnd } from './wait-for-end.ts'

/** DELETE /v2/service_instances/:instance_id/service_bindings/:binding_id */
export async function unbind(
  broker: BrokerContext,
  caller: Caller,
  { instanceId, bindingId, request, acceptsIncomplete }: AskedOfBinding<DeletionRequest>,
): Promise<Deleted> {
  const { settings, observer } = broker
  // UNB-13: any plan of the service will do, since the instance may have changed its plan after the bind.
  const { service, plan } = await findPlanInUse(broker, instanceId, request.serviceId, request.planId)
  const intent = {
    ...createIntent(broker, caller, {
      action: 'unbind',
      instanceId,
      service,
      plan,
      attributes: {},
      acceptsIncomplete,
    }),
    bindingId,
    forceUnknown: settings.bindings.forceDeleteUnknown,
  }
  const answer = await accept(broker, { instanceId, bindingId }, snapshot => decideUnbind(snapshot, intent), caller)
  if (answer.kind === 'forced') {
    observer['deletion.forced']?.({ instanceId, bindingId, requestId: caller.requestId })
    return { kind: 'deleted' }
  }
  if (!answer.wait) return { kind: 'accepted', operation: answer.operation.id }
  await waitForEnd(broker, answer.operation)
  return { kind: 'deleted' }
}
