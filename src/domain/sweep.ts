import { newOperation, type OperationIntent } from './intent.ts'
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
  const { instanceId, bindingId, serviceId, planId, platform } = deletion
  const { sweepOperationId: operationId, sweepDelay, sweepTimeout: timeout } = policy
  const intent = { operationId, instanceId, serviceId, planId, platform, timeout }
  return newSweep(intent, { now, due: now + sweepDelay, bindingId, unbind })
}

/** Its time counts from when it is due. */
export function newSweep(
  intent: OperationIntent,
  {
    now,
    due,
    bindingId,
    unbind,
  }: {
    readonly now: number
    readonly due: number
    readonly bindingId: string | undefined
    readonly unbind: readonly string[]
  },
): Operation {
  const input = unbind.length === 0 ? {} : { unbind }
  return { ...newOperation(intent, 'sweep', due, { bindingId, input }), acceptedAt: now }
}
