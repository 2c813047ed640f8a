import type { HistoryEvent } from '../../domain/change.ts'
import type { Acting, Verb } from '../../domain/operator.ts'
import type { BrokerContext } from '../context.ts'

/** For the log: the history has the same, in the transaction of what was done. */
export function tell(
  { observer }: Pick<BrokerContext, 'observer'>,
  verb: Verb,
  { by: principal, reason, requestId, traceparent }: Acting,
  target: Pick<HistoryEvent, 'instanceId' | 'bindingId' | 'operationId'>,
): void {
  observer['operator.acted']?.({ verb, principal, reason, requestId, traceparent, ...target })
}
