import type { JsonObject } from '../protocol/json.ts'
import type { Snapshot, Verdict } from './change.ts'

export interface Pin {
  /** The provision that waited for the catalog, under the lease that it runs with now. */
  readonly operationId: string
  readonly fence: number
  readonly revisionId: string
  /** With the defaults of the revision's schema. */
  readonly parameters: JsonObject
  readonly maintenanceVersion?: string
}

/** An instance that was accepted before its service was known is pinned now. False: the lease is lost. */
export function decidePin({ instance, operation, now }: Snapshot, pin: Pin): Verdict<boolean> {
  const held = operation?.id === pin.operationId && operation.fence === pin.fence && operation.state === 'running'
  if (instance === undefined || !held) return { answer: false }
  const { revisionId, parameters, maintenanceVersion } = pin
  const pinned = { ...instance, revisionId, parameters, maintenanceVersion, awaitsCatalog: undefined, updatedAt: now }
  return { answer: true, change: { instance: pinned } }
}
