import type { JsonObject } from '../protocol/json.ts'
import type { HistoryEvent } from './change.ts'
import type { Gate } from './gate.ts'
import { type Acting, acted, noInstance } from './operator.ts'

export interface GateChange {
  readonly before?: Gate
  readonly after?: Gate
}

/** What the history tells of a gate that was closed, changed or opened. Who had closed it stands in the line of that. */
export function gateChanged(acting: Acting, { before, after }: GateChange, at: number): HistoryEvent {
  const verb = after === undefined ? 'open-gate' : 'close-gate'
  return acted(verb, acting, { at, instanceId: noInstance, before: shown(before), after: shown(after) })
}

function shown(gate: Gate | undefined): JsonObject {
  if (gate === undefined) return {}
  const { action, serviceId, planId, message, retryAfter } = gate
  return { action, service_id: serviceId, plan_id: planId, message, retry_after: retryAfter }
}
