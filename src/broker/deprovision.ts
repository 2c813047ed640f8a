import { decideDeprovision } from '../domain/decide-deprovision.ts'
import type { DeletionRequest } from '../protocol/query.ts'
import { accept } from './accept.ts'
import type { Asked, BrokerContext, Caller } from './context.ts'
import { findPlanInUse } from './find-plan.ts'
import { createIntent } from './intent.ts'
import { waitForEnd } from './wait-for-end.ts'

export type Deleted = { readonly kind: 'deleted' } | { readonly kind: 'accepted'; readonly operation: string }

/** DELETE /v2/service_instances/:instance_id. It also works for a plan that left the catalog (DEP-17). */
export async function deprovision(
  broker: BrokerContext,
  caller: Caller,
  { instanceId, request, acceptsIncomplete }: Asked<DeletionRequest>,
): Promise<Deleted> {
  const { settings, observer } = broker
  const { service, plan } = await findPlanInUse(broker, instanceId, request.serviceId, request.planId)
  const intent = {
    ...createIntent(broker, caller, {
      action: 'deprovision',
      instanceId,
      service,
      plan,
      attributes: {},
      acceptsIncomplete,
    }),
    cascade: settings.osb.cascadeDelete,
    forceUnknown: settings.instances.forceDeleteUnknown,
  }
  const answer = await accept(broker, { instanceId }, snapshot => decideDeprovision(snapshot, intent), caller)
  if (answer.kind === 'forced') {
    observer['deletion.forced']?.({ instanceId, requestId: caller.requestId })
    return { kind: 'deleted' }
  }
  if (!answer.wait) return { kind: 'accepted', operation: answer.operation.id }
  await waitForEnd(broker, answer.operation)
  return { kind: 'deleted' }
}
