import type { JsonObject } from '../protocol/json.ts'
import type { HistoryEvent } from './change.ts'
import type { OperationVerb } from './judge-verb.ts'

/** What operators do by hand. */
export type Verb = OperationVerb | 'move' | 'abandon'

/** Who does it, why, and under which request. */
export interface Acting {
  readonly by: string
  readonly reason?: string
  readonly requestId?: string
}

/** The line of the history that every change by hand leaves, in the transaction of the change. */
export function acted(
  verb: Verb,
  { by, reason, requestId }: Acting,
  about: Pick<HistoryEvent, 'at' | 'instanceId' | 'bindingId' | 'operationId' | 'action'> & {
    readonly before: JsonObject
    readonly after: JsonObject
  },
): HistoryEvent {
  return { type: 'acted', verb, by, reason, requestId, ...about }
}
