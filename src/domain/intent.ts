import type { Action } from '../protocol/actions.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Change, HistoryEvent, Verdict } from './change.ts'
import type { Operation } from './operation.ts'
import { nextState } from './operation.ts'

/** auto: asynchronous where the platform allows it, else the request waits on the same durable operation. */
export type AsyncMode = 'auto' | 'always' | 'never'

/** What an operation is made of. */
export interface OperationIntent {
  /** The id the operation gets, if it is begun. */
  readonly operationId: string
  readonly instanceId: string
  readonly serviceId: string
  readonly requestHash: string
  /** How long the operation may take, in milliseconds. */
  readonly timeout: number
  readonly identity?: JsonObject
  readonly requestId?: string
}

/** What every request that wants an operation brings along. */
export interface Intent extends OperationIntent {
  readonly platform: string
  readonly acceptsIncomplete: boolean
  readonly mode: AsyncMode
  /** No code for the service is here. `later`: a registry may bring it, and a pinned revision may not be known here yet. */
  readonly unknownService?: 'left' | 'later'
}

/** The request is answered from an operation: one that it started, or the one it repeats. */
export interface Accepted {
  readonly kind: 'accepted'
  readonly operation: Operation
  /** The request stays open until the operation ends; otherwise it is answered 202 now. */
  readonly wait: boolean
}

/** `forced`: nobody knows what is to be deleted, and the settings say that it counts as deleted. */
export type DeletionAnswer = Accepted | { readonly kind: 'forced' }

/** A 202 needs the platform's consent; a service that is always asynchronous can do nothing without it. */
export function waits(intent: Intent): boolean {
  if (intent.mode === 'always' && !intent.acceptsIncomplete)
    throw new BrokerError(
      'AsyncRequired',
      'This service works asynchronously: repeat the request with accepts_incomplete=true.',
    )
  return intent.mode === 'never' || !intent.acceptsIncomplete
}

/** PROV-09, UPD-16, MI-05: a version that was sent must be the catalog's, exactly. A request without a version is never refused. */
export function checkMaintenance(requested: string | undefined, catalog: string | undefined): void {
  if (requested === undefined || requested === catalog) return
  throw new BrokerError(
    'MaintenanceInfoConflict',
    catalog === undefined
      ? 'The plan has no maintenance_info: read the catalog again.'
      : `The catalog offers maintenance_info.version ${catalog} for this plan: read the catalog again.`,
  )
}

type NewOperation = Partial<Pick<Operation, 'input' | 'bindingId' | 'unclean'>>

export function newOperation(intent: OperationIntent, action: Action, now: number, more: NewOperation = {}): Operation {
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

/** A new operation, in the place of the one that is at work on the resource. */
export function begin(
  intent: Intent,
  action: Action,
  now: number,
  { old, ...more }: NewOperation & { readonly old?: Operation } = {},
): { readonly operation: Operation; readonly written: Required<Pick<Change, 'operations' | 'history'>> } {
  const queued = newOperation(intent, action, now, more)
  const operation = old === undefined ? queued : takeOver(old, queued, now)
  const accepted = historyOf(operation, 'accepted', now, { platform: intent.platform })
  if (old === undefined) return { operation, written: { operations: [operation], history: [accepted] } }
  const description = `superseded by ${action}`
  const ended = { ...old, state: nextState(old.state, 'supersede'), description, finishedAt: now }
  // Whatever is not a deletion takes over from observations only, and those leave no history.
  const isDeletion = action === 'deprovision' || action === 'unbind'
  const history = isDeletion ? [historyOf(old, 'superseded', now), accepted] : [accepted]
  return { operation, written: { operations: [ended, operation], history } }
}

/**
 * It starts when the old holder has handed back its lease, or the lease is over (drain). If the old operation ever ran, one
 * of its calls may land even later, which is what the sweep is for.
 */
function takeOver(old: Operation, by: Operation, now: number): Operation {
  const held = old.state === 'running' ? (old.leaseUntil ?? now) : now
  return { ...by, drains: old.id, notBefore: Math.max(now, held), unclean: by.unclean || old.attempt > 0 }
}

/** A deletion of what nobody knows is answered as done; only the history tells of it. */
export function force({ instanceId, platform }: Intent, now: number, bindingId?: string): Verdict<DeletionAnswer> {
  const event = { at: now, type: 'forced', instanceId, bindingId, platform } as const
  return { answer: { kind: 'forced' }, change: { history: [event] } }
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
