import type { JsonObject } from '../protocol/json.ts'

export type BindingPhase = 'creating' | 'ready' | 'deleting' | 'failed' | 'deleted'

/** One row of the ledger, keyed by (instanceId, id). */
export interface Binding {
  readonly instanceId: string
  readonly id: string
  readonly serviceId: string
  readonly planId: string
  readonly phase: BindingPhase
  /** Hash of what the PUT asked for: what a repeated PUT is compared with. */
  readonly requestHash: string
  readonly context: JsonObject
  readonly bindResource: JsonObject
  readonly appGuid?: string
  /** Sealed, as `state` and `result` are. */
  readonly parameters: JsonObject
  readonly state: JsonObject
  /** The wire body of a fetched binding without `parameters`: credentials, urls, mounts, endpoints, metadata. */
  readonly result: JsonObject
  /** The binding that this one rotates. */
  readonly predecessorId?: string
  readonly expiresAt?: number
  /** From then on it should be rotated; not later than `expiresAt`. */
  readonly renewBefore?: number
  /** When the chore looks at its expiry next; where it is absent, at `expiresAt`. See expiry.ts. */
  readonly noticeAt?: number
  readonly lastOperationId: string
  /** As in Instance. */
  readonly uncleanUntil?: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly deletedAt?: number
}

/** Every field: see `noOperation`. */
export const noBinding: { readonly [Field in keyof Required<Binding>]: undefined } = {
  instanceId: undefined,
  id: undefined,
  serviceId: undefined,
  planId: undefined,
  phase: undefined,
  requestHash: undefined,
  context: undefined,
  bindResource: undefined,
  appGuid: undefined,
  parameters: undefined,
  state: undefined,
  result: undefined,
  predecessorId: undefined,
  expiresAt: undefined,
  renewBefore: undefined,
  noticeAt: undefined,
  lastOperationId: undefined,
  uncleanUntil: undefined,
  createdAt: undefined,
  updatedAt: undefined,
  deletedAt: undefined,
}
