import type { Action } from '../protocol/actions.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Binding } from './binding.ts'
import type { Change, HistoryEvent, Verdict } from './change.ts'
import type { Instance } from './instance.ts'
import type { Operation } from './operation.ts'
import { nextState, noOperation } from './operation.ts'
import { type Tombstone, takeAlong, undo, withoutSweep } from './sweep-first.ts'

/** auto: asynchronous where the platform allows it, else the request waits on the same durable operation. */
export type AsyncMode = 'auto' | 'always' | 'never'

/** What an operation is made of. */
export interface OperationIntent {
  /** The id the operation gets, if it is begun. */
  readonly operationId: string
  readonly instanceId: string
  readonly serviceId: string
  readonly planId?: string
  readonly platform?: string
  readonly requestHash?: string
  /** How long the operation may take, in milliseconds. */
  readonly timeout: number
  readonly identity?: JsonObject
  readonly requestId?: string
  readonly traceparent?: string
}

/** What every request that wants an operation brings along. */
export interface Intent extends OperationIntent {
  readonly platform: string
  readonly requestHash: string
  /** Who has signed in, and from where: for the history. */
  readonly principal?: string
  readonly address?: string
  readonly acceptsIncomplete: boolean
  readonly mode: AsyncMode
  /** So long after a lease, a call of its holder may still land. */
  readonly landsWithin: number
  /** How much longer it may take where it has to wait for a sweep first. */
  readonly sweepDelay: number
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

/**
 * `forced`: nobody knows what is to be deleted, and the settings say that it counts as deleted. `unbegun`: its creation was
 * still waiting for the sweep of what had been deleted under the same id, so there is nothing to delete.
 */
export type DeletionAnswer = Accepted | { readonly kind: 'forced' | 'unbegun' }

/** A 202 needs the platform's consent; a service that is always asynchronous can do nothing without it. */
export function waits(intent: Intent): boolean {
  if (intent.mode === 'always' && !intent.acceptsIncomplete)
    throw new BrokerError(
      'AsyncRequired',
      'This service works asynchronously: repeat the request with accepts_incomplete=true.',
    )
  return isWaitedFor(intent)
}

function isWaitedFor({ mode, acceptsIncomplete }: Intent): boolean {
  return mode === 'never' || !acceptsIncomplete
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

type NewOperation = Partial<Pick<Operation, 'input' | 'bindingId' | 'unclean' | 'notBefore' | 'planId'>>

export function newOperation(intent: OperationIntent, action: Action, now: number, more: NewOperation = {}): Operation {
  return {
    ...noOperation,
    id: intent.operationId,
    instanceId: intent.instanceId,
    bindingId: more.bindingId,
    serviceId: intent.serviceId,
    planId: more.input?.planId ?? more.planId ?? intent.planId,
    platform: intent.platform,
    action,
    state: 'queued',
    // Others are told by what they are about: a creation by its instance or its binding, a deletion by itself.
    requestHash: action === 'update' ? intent.requestHash : undefined,
    input: more.input ?? {},
    identity: intent.identity,
    requestId: intent.requestId,
    traceparent: intent.traceparent,
    attempt: 0,
    losses: 0,
    notBefore: Math.min(more.notBefore ?? now, now + intent.timeout),
    deadlineAt: now + intent.timeout,
    fence: 0,
    unclean: more.unclean ?? false,
    acceptedAt: now,
  }
}

/** What polls find of something that was done without a run: an operator has said so. */
export function doneByHand(
  made: Omit<OperationIntent, 'timeout'>,
  action: Action,
  now: number,
  {
    verb,
    description,
    bindingId,
  }: { readonly verb: 'abandon' | 'adopt' } & Pick<Operation, 'description' | 'bindingId'>,
): Operation {
  const begun = newOperation({ ...made, timeout: 0 }, action, now, { bindingId })
  return { ...begun, state: nextState(begun.state, verb), description, finishedAt: now }
}

/** A new operation, in the place of the one that is at work on the resource. `swept`: that one is the sweep of it. */
export function begin(
  intent: Intent,
  action: Action,
  now: number,
  more: NewOperation & { readonly old?: Operation; readonly swept?: Tombstone } = {},
): { readonly operation: Operation; readonly written: Required<Pick<Change, 'operations' | 'history'>> } {
  const { old, swept } = more
  const isLater = swept !== undefined || more.notBefore !== undefined || more.input?.afterSweeps === true
  const timeout = intent.timeout + (isLater ? intent.sweepDelay : 0)
  const synchronous = isWaitedFor(intent) || undefined
  const queued = { ...newOperation({ ...intent, timeout }, action, now, more), synchronous }
  const taken = old === undefined ? queued : takeOver(old, queued, now)
  const operation = old === undefined || swept === undefined ? taken : takeAlong(taken, old, swept)
  const { platform, principal, address } = intent
  const accepted = historyOf(operation, 'accepted', now, { platform, principal, address })
  if (old === undefined) return { operation, written: { operations: [operation], history: [accepted] } }
  const ended = superseded(old, action, now)
  // Whatever is not a deletion takes over from observations and sweeps only, and those leave no history.
  const isDeletion = action === 'deprovision' || action === 'unbind'
  const history = isDeletion ? [historyOf(old, 'superseded', now), accepted] : [accepted]
  return { operation, written: { operations: [ended, operation], history } }
}

export function superseded(old: Operation, by: string, now: number): Operation {
  const state = nextState(old.state, 'supersede')
  return { ...old, state, hold: undefined, description: `superseded by ${by}`, finishedAt: now }
}

/** A deletion of what has not begun to be created: undefined where it has. */
export function undoUnbegun(old: Operation | undefined, by: Action, now: number): Verdict<DeletionAnswer> | undefined {
  const first = old?.input.sweepFirst
  if (old === undefined || first === undefined) return undefined
  const { sweep, ...tombstone } = undo(old, first)
  const operations = [withoutSweep(superseded(old, by, now)), sweep]
  const history = [historyOf(old, 'superseded', now)]
  return { answer: { kind: 'unbegun' }, change: { ...tombstone, operations, history } }
}

/**
 * It starts when the old holder has handed back its lease, or the lease is over (drain). If the old operation ever ran, one
 * of its calls may land even later, which is what the sweep is for.
 */
function takeOver(old: Operation, by: Operation, now: number): Operation {
  const held = old.state === 'running' ? (old.leaseUntil ?? now) : now
  return { ...by, drains: old.id, notBefore: Math.max(by.notBefore, held), unclean: by.unclean || old.attempt > 0 }
}

/** A deletion of what nobody knows is answered as done; only the history tells of it. */
export function force(intent: Intent, now: number, bindingId?: string): Verdict<DeletionAnswer> {
  const { instanceId, platform, identity, requestId, principal, address } = intent
  const who = { platform, identity, requestId, principal, address }
  const event = { at: now, type: 'forced', instanceId, bindingId, ...who } as const
  return { answer: { kind: 'forced' }, change: { history: [event] } }
}

export function historyOf(
  operation: Operation,
  type: HistoryEvent['type'],
  at: number,
  more: Pick<HistoryEvent, 'platform' | 'principal' | 'address' | 'message'> = {},
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

/**
 * When something can be created under the id of what was deleted: not before the last call of that deletion has landed.
 * Undefined where that is now.
 */
export function quietAt(
  tombstone: Pick<Instance | Binding, 'phase' | 'uncleanUntil'> | undefined,
  now: number,
): number | undefined {
  const { phase, uncleanUntil = now } = tombstone ?? {}
  return phase === 'deleted' && uncleanUntil > now ? uncleanUntil : undefined
}

/** The request could wait only for as long as its caller does, and the sweep may take longer than that. */
export function stillSwept(what: 'instance' | 'binding'): BrokerError {
  return new BrokerError(
    'ConcurrencyError',
    `What the previous ${what} with this id may have left behind is still being swept. Repeat the request later.`,
  )
}

/** Another operation holds the resource; the platform waits for it and repeats (CONC-02). */
export function busy(operation: Operation | undefined, what: string): BrokerError {
  const doing = operation === undefined ? 'another operation' : `its ${operation.action}`
  return new BrokerError(
    'ConcurrencyError',
    `${what} is busy: ${doing} is still in progress. Repeat the request when it has ended.`,
  )
}
