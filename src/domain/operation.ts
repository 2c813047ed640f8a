import type { Action } from '../protocol/actions.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { SweepFirst } from './sweep-first.ts'

/**
 * queued -> running -> succeeded | failed, running -> queued (park, hand back), queued | running -> superseded, and
 * queued | running -> succeeded for a deletion that an operator abandons, or a creation that was another broker's. The last
 * three are final and never change.
 */
export type OperationState = 'queued' | 'running' | FinalState
export type FinalState = 'succeeded' | 'failed' | 'superseded'

/** Why an operation failed, as data: it is stored and shown, so it holds no secret and no stack. */
export interface OperationError {
  readonly message: string
  /** A 4xx that a synchronous request may be answered with, because nothing had been done yet. */
  readonly status?: number
  readonly instanceUsable?: boolean
  readonly updateRepeatable?: boolean
  /** For operators: the step that failed last, and what failures of the same kind have in common. */
  readonly step?: string
  readonly fingerprint?: string
}

/** Nobody runs it until an operator decides, or until its time is up. */
export interface Hold {
  readonly since: number
  /** The operator; absent where it was held because its retries were used up. */
  readonly by?: string
  /** What it fails with where nobody decides. */
  readonly error?: OperationError
}

/** What the action is to bring about; for an update, the row that the instance becomes when it succeeds. */
export interface OperationInput {
  readonly planId?: string
  readonly parameters?: JsonObject
  readonly context?: JsonObject
  readonly maintenanceVersion?: string
  /** The revision that the instance is pinned to from then on. */
  readonly revisionId?: string
  /** What the first answer to an update named: in force only when the update has succeeded. */
  readonly dashboardUrl?: string
  /** Of a sweep: the bindings that went with the instance and are to be unbound once more. */
  readonly unbind?: readonly string[]
  /** Of a deprovision or an update: bindings were being swept when it was accepted; it begins when none is any more. */
  readonly afterSweeps?: boolean
  /** Of a provision or a bind: what was deleted under its id was being swept when it was accepted, and is not yet gone. */
  readonly sweepFirst?: SweepFirst
}

/** One durable run of one action on one resource. The row is the queue entry, the lock and the answer to polls. */
export interface Operation {
  readonly id: string
  readonly instanceId: string
  readonly bindingId?: string
  readonly serviceId: string
  /** What lists go by: the plan that it leads to, or is about, and the platform of the instance. Older releases wrote neither. */
  readonly planId?: string
  readonly platform?: string
  readonly action: Action
  readonly state: OperationState
  /** Of an update alone: a PATCH that says the same is a repetition of it. Sealed. */
  readonly requestHash?: string
  /** Sealed. */
  readonly input: OperationInput
  /** Who asked, as the platform said it (personal data: shown to operators only), and under which request id. */
  readonly identity?: JsonObject
  readonly requestId?: string
  /** The W3C trace context of the request that asked for it, and of the operator's that made it run again. */
  readonly traceparent?: string
  readonly adminTraceparent?: string
  readonly description?: string
  /** While it is active: an operator has ended it, and whoever claims it next fails it with this. */
  readonly error?: OperationError
  /** While it is active: it is not due before its deadline. */
  readonly hold?: Hold
  /** When an operator released it last, and how often: the retries of steps are counted from then on. */
  readonly released?: { readonly at: number; readonly times: number }
  /** Its request waits for it, so that nobody would see it held. */
  readonly synchronous?: boolean
  /** The failed operation that an operator tries again with this one. */
  readonly retryOf?: string
  /** Claims so far, and how many of them in a row ended by a lost lease without a new checkpoint. */
  readonly attempt: number
  readonly losses: number
  readonly notBefore: number
  readonly deadlineAt: number
  readonly leaseOwner?: string
  readonly leaseUntil?: number
  /** Rises with each lease, over all operations: a backend can refuse the calls of an older holder. */
  readonly fence: number
  /** The superseded operation whose lease must be handed back or over before this one starts. */
  readonly drains?: string
  /** A call of an earlier holder may still land: a sweep has to look again after a deletion. */
  readonly unclean: boolean
  readonly acceptedAt: number
  /** The persisted time that a step's retry budget counts from: the latest checkpoint, or the first claim. */
  readonly checkpointAt?: number
  readonly finishedAt?: number
}

/**
 * Every field, for what is read or made: rows of one kind have one shape. A copy in which a field is set costs Node.js 20 little, and one
 * that gets a field more costs twenty times as much.
 */
export const noOperation: { readonly [Field in keyof Required<Operation>]: undefined } = {
  id: undefined,
  instanceId: undefined,
  bindingId: undefined,
  serviceId: undefined,
  planId: undefined,
  platform: undefined,
  action: undefined,
  state: undefined,
  requestHash: undefined,
  input: undefined,
  identity: undefined,
  requestId: undefined,
  traceparent: undefined,
  adminTraceparent: undefined,
  description: undefined,
  error: undefined,
  hold: undefined,
  released: undefined,
  synchronous: undefined,
  retryOf: undefined,
  attempt: undefined,
  losses: undefined,
  notBefore: undefined,
  deadlineAt: undefined,
  leaseOwner: undefined,
  leaseUntil: undefined,
  fence: undefined,
  drains: undefined,
  unclean: undefined,
  acceptedAt: undefined,
  checkpointAt: undefined,
  finishedAt: undefined,
}

export interface Step {
  readonly name: string
  readonly state: 'failed' | 'done'
  readonly attempts: number
  readonly startedAt: number
  /** Its latest calls, oldest first, at most `limits.triesPerStep`. One that was cut off with its worker left none. */
  readonly tries?: readonly StepTry[]
  /** Sealed. */
  readonly output?: unknown
  /** What operators may read of it: it holds no secret. */
  readonly shown?: JsonObject
  readonly error?: string
  /** Of one that has failed: when, and what failures of the same kind have in common. */
  readonly failedAt?: number
  readonly fingerprint?: string
}

/** One call of a step that has ended, as operators see it. */
export interface StepTry {
  readonly startedAt: number
  readonly endedAt: number
  readonly error?: string
  /** The process that made it. */
  readonly worker?: string
  readonly fence: number
  /** The lease before this one ran out: whoever had it was cut off. */
  readonly takenOver?: boolean
}

/** When an active operation can be claimed: a queued one at `notBefore`, a running one when its lease is over. */
export function dueAt({ state, leaseUntil = 0, notBefore }: Operation): number {
  return state === 'running' ? leaseUntil : notBefore
}

/** A worker that has claimed one at its deadline is about to fail it: that one is not held any more. */
export function isHeld({ state, hold }: Pick<Operation, 'state' | 'hold'>): boolean {
  return state === 'queued' && hold !== undefined
}

export function isActive(operation: Operation | undefined): operation is Operation {
  return operation !== undefined && (operation.state === 'queued' || operation.state === 'running')
}

/** What an active operation is doing, where nobody has said more. */
export function progressOf({ action, state, attempt, drains }: Operation): string {
  if (state === 'running') return `the ${action} is running`
  if (attempt > 0) return `the ${action} waits to go on`
  return drains === undefined ? 'waiting for its turn' : 'waiting until what it takes over from has stopped'
}

export type OperationEvent = 'claim' | 'park' | 'succeed' | 'fail' | 'supersede' | 'abandon' | 'adopt'

const transitions: Record<OperationState, Partial<Record<OperationEvent, OperationState>>> = {
  queued: { claim: 'running', supersede: 'superseded', abandon: 'succeeded', adopt: 'succeeded' },
  running: {
    claim: 'running',
    park: 'queued',
    succeed: 'succeeded',
    fail: 'failed',
    supersede: 'superseded',
    abandon: 'succeeded',
  },
  succeeded: {},
  failed: {},
  superseded: {},
}

/** The one state machine. An illegal pair is an error of ours, never a silent change of a final result. */
export function nextState(state: OperationState, event: OperationEvent): OperationState {
  const next = transitions[state][event]
  if (next === undefined) throw new Error(`illegal transition: ${event} in state ${state}`)
  return next
}

/** What a claim does to the row, besides the lease itself. Taking over means that the holder before may still be calling. */
export function claimed(before: Operation, now: number): Operation {
  const takenOver = before.state === 'running'
  return {
    ...before,
    state: nextState(before.state, 'claim'),
    attempt: before.attempt + 1,
    losses: before.losses + (takenOver ? 1 : 0),
    unclean: before.unclean || takenOver,
    checkpointAt: before.checkpointAt ?? now,
  }
}
