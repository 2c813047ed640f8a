import { decideDeprovision } from '../domain/decide-deprovision.ts'
import type { DeletionAnswer } from '../domain/intent.ts'
import type { Target } from '../ledger.ts'
import type { DeletionRequest } from '../protocol/query.ts'
import { accept, createIntent } from './accept.ts'
import type { Asked, BrokerContext, Caller } from './context.ts'
import { findPlanToDelete } from './find-plan.ts'
import { waitForEnd } from './wait-for-end.ts'

export type Deleted = { readonly kind: 'deleted' } | { readonly kind: 'accepted'; readonly operation: string }

/** DELETE /v2/service_instances/:instance_id. It also works for a plan that left the catalog (DEP-17). */
export async function deprovision(
  broker: BrokerContext,
  caller: Caller,
  { instanceId, request, acceptsIncomplete }: Asked<DeletionRequest>,
): Promise<Deleted> {
  const { osb, instances } = broker.settings
  const { service, plan } = await findPlanToDelete(broker, caller, instanceId, request)
  const intent = {
    ...createIntent(broker, caller, { action: 'deprovision', instanceId, service, plan, acceptsIncomplete }),
    cascade: osb.cascadeDelete,
    forceUnknown: instances.forceDeleteUnknown,
  }
  const answer = await accept(broker, { instanceId }, snapshot => decideDeprovision(snapshot, intent), caller)
  return toDeleted(broker, caller, { instanceId }, answer)
}

/** The end of both deletions. */
export async function toDeleted(
  broker: BrokerContext,
  { requestId, traceparent }: Caller,
  target: Target,
  answer: DeletionAnswer,
): Promise<Deleted> {
  if (answer.kind === 'accepted' && !answer.wait) return { kind: 'accepted', operation: answer.operation.id }
  if (answer.kind === 'accepted') await waitForEnd(broker, answer.operation)
  if (answer.kind === 'forced') broker.observer['deletion.forced']?.({ ...target, requestId, traceparent })
  return { kind: 'deleted' }
}
