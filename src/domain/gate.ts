import type { Action } from '../protocol/actions.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { Operation } from './operation.ts'

/** What can be gated: one action, or `new`, which is all that makes or changes something. A deletion has to be named. */
export const gatedActions = ['provision', 'update', 'bind', 'deprovision', 'unbind', 'new'] as const
export type GatedAction = (typeof gatedActions)[number]

/** Refuses what platforms ask for, for a while: of one plan, of one service, or of all. */
export interface Gate {
  readonly action: GatedAction
  readonly serviceId?: string
  readonly planId?: string
  /** What the platform is told. */
  readonly message: string
  /** Seconds: the platform is asked to come again (503); without it, the request has failed (422). */
  readonly retryAfter?: number
  readonly reason?: string
  readonly by: string
  readonly since: number
}

const makers: readonly Action[] = ['provision', 'update', 'bind']

/** Throws where a gate refuses an operation that a request is about to begin. */
export function checkGates(
  gates: readonly Gate[],
  { action, serviceId }: Pick<Operation, 'action' | 'serviceId'>,
  planId: string | undefined,
): void {
  const gate = gates.find(
    each =>
      (each.action === 'new' ? makers.includes(action) : each.action === action) &&
      (each.serviceId === undefined || each.serviceId === serviceId) &&
      (each.planId === undefined || each.planId === planId),
  )
  if (gate === undefined) return
  const { message, retryAfter } = gate
  throw retryAfter === undefined
    ? new BrokerError('ActionRefused', message)
    : new BrokerError('Maintenance', message, { retryAfter })
}
