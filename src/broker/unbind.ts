import { decideUnbind } from '../domain/decide-unbind.ts'
import type { DeletionRequest } from '../protocol/query.ts'
import { accept, createIntent } from './accept.ts'
import type { AskedOfBinding, BrokerContext, Caller } from './context.ts'
import { type Deleted, toDeleted } from './deprovision.ts'
import { findPlanToDelete } from './find-plan.ts'

/** DELETE /v2/service_instances/:instance_id/service_bindings/:binding_id */
export async function unbind(
  broker: BrokerContext,
  caller: Caller,
  { instanceId, bindingId, request, acceptsIncomplete }: AskedOfBinding<DeletionRequest>,
): Promise<Deleted> {
  // UNB-13: any plan of the service will do, since the instance may have changed its plan after the bind.
  const { service, plan } = await findPlanToDelete(broker, caller, instanceId, request)
  const intent = {
    ...createIntent(broker, caller, { action: 'unbind', instanceId, service, plan, acceptsIncomplete }),
    bindingId,
    forceUnknown: broker.settings.bindings.forceDeleteUnknown,
  }
  const target = { instanceId, bindingId }
  const answer = await accept(broker, target, snapshot => decideUnbind(snapshot, intent), caller)
  return toDeleted(broker, caller, target, answer)
}
