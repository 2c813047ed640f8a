import type { Operation } from './operation.ts'
import type { SettlePolicy } from './outcome.ts'

/**
 * The sweep after a deletion that may have raced a call of an earlier holder: the same deletion once more, later than any
 * such call can land. Undefined where nothing can be in flight. A sweep that lost a call itself is swept too: that call
 * would destroy what is created under the same id afterwards.
 */
export function sweepAfter(
  deletion: Operation,
  now: number,
  policy: SettlePolicy,
  unbind: readonly string[] = [],
): Operation | undefined {
  if (!deletion.unclean && unbind.length === 0) return undefined
  return {
    id: policy.sweepOperationId,
    instanceId: deletion.instanceId,
    bindingId: deletion.bindingId,
    serviceId: deletion.serviceId,
    action: 'sweep',
    state: 'queued',
    requestHash: '',
    input: unbind.length === 0 ? {} : { unbind },
    attempt: 0,
    losses: 0,
    notBefore: now + policy.sweepDelay,
    deadlineAt: now + policy.sweepDelay + policy.sweepTimeout,
    fence: 0,
    unclean: false,
    acceptedAt: now,
  }
}
