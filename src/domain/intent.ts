import type { Action } from '../protocol/actions.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { HistoryEvent } from './change.ts'
import type { Operation, OperationInput } from './operation.ts'
import { nextState } from './operation.ts'

/** auto: asynchronous where the platform allows it, else the request waits on the same durable operation. */
export type AsyncMode = 'auto' | 'always' | 'never'

/** What every request that wants an operation brings along. */
export interface Intent {
  /** The id the operation gets, if this request starts one. */
  readonly operationId: string
  readonly platform: string
  readonly instanceId: string
  readonly serviceId: string
  readonly requestHash: string
  readonly acceptsIncomplete: boolean
  readonly mode: AsyncMode
  /** How long the operation may take, in milliseconds. */
  readonly timeout: number
  readonly identity?: JsonObject
  readonly requestId?: string
}

/** The request is answered from an operation: one that it started, or the one it repeats. */
export interface Accepted {
  readonly kind: 'accepted'
  readonly operation: Operation
  /** The request stays open until the operation ends; otherwise it is answered 202 now. */
  readonly wait: boolean
}

/** A 202 needs the platform's consent; a service that is always asynchronous can do nothing without it. */
export function waits(intent: Intent): boolean {
  if (intent.mode === 'always' && !intent.acceptsIncomplete)
    throw new BrokerError(
      'AsyncRequired',
      'This service works asynchronously: repeat the request with accepts_incomplete=true.',
    )
  return intent.mode === 'never' || !intent.acceptsIncomplete
}

export function newOperation(
  intent: Intent,
  action: Action,
  now: number,
  more: { readonly input?: OperationInput; readonly bindingId?: string; readonly unclean?: boolean } = {},
): Operation {
  return {
    id: intent.operationId,
    instanceId: intent.instanceId,
    bindingId: more.bindingId,
    serviceId: intent.serviceId,
    action,
    state: 'queued',
    requestHash: intent.requestHash,
    input: more.input ?? {},
    identity: intent.identity,
    requestId: intent.requestId,
    attempt: 0,
    losses: 0,
    notBefore: now,
    deadlineAt: now + intent.timeout,
    fence: 0,
    unclean: more.unclean ?? false,
    acceptedAt: now,
  }
}

/**
 * The new operation takes the old one's place. It starts when the old holder has handed back its lease, or the lease is over (drain); if
 * the old one ever ran, one of its calls may land even later, which is what the sweep is for.
 */
export function supersede(old: Operation, by: Operation, now: number): readonly Operation[] {
  const held = old.state === 'running' ? (old.leaseUntil ?? now) : now
  return [
    {
      ...old,
      state: nextState(old.state, 'supersede'),
      description: `superseded by ${by.action}`,
      finishedAt: now,
    },
    { ...by, drains: old.id, notBefore: Math.max(now, held), unclean: by.unclean || old.attempt > 0 },
  ]
}

export function historyOf(
  operation: Operation,
  type: HistoryEvent['type'],
  at: number,
  more: { readonly platform?: string; readonly message?: string } = {},
): HistoryEvent {
  return {
    at,
    type,
    instanceId: operation.instanceId,
    bindingId: operation.bindingId,
    operationId: operation.id,
    action: operation.action,
    identity: operation.identity,
    requestId: operation.requestId,
    ...more,
  }
}

/** Another operation holds the resource; the platform waits for it and repeats (CONC-02). */
export function busy(operation: Operation | undefined, what: string): BrokerError {
  const doing = operation === undefined ? 'another operation' : `its ${operation.action}`
  return new BrokerError(
    'ConcurrencyError',
    `${what} is busy: ${doing} is still in progress. Repeat the request when it has ended.`,
  )
}
