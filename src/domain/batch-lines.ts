import type { Batch } from './batch.ts'
import type { HistoryEvent } from './change.ts'
import { type Acting, acted, noInstance } from './operator.ts'

/** A batch was begun. What it does to each item stands in a line of its own. */
export function batchBegun(acting: Acting, { id, action, total, reason }: Batch, at: number): HistoryEvent {
  const after = { batch: id, action, total }
  return acted('start-batch', { ...acting, reason }, { at, instanceId: noInstance, before: {}, after })
}

/** An operator has stopped it. One that stops by itself says why itself. */
export function batchStopped(acting: Acting, { id }: Batch, at: number): HistoryEvent {
  const [before, after] = [
    { batch: id, state: 'running' },
    { batch: id, state: 'stopping' },
  ]
  return acted('stop-batch', acting, { at, instanceId: noInstance, before, after })
}
