import type { Action } from '../protocol/actions.ts'
import { BrokerError } from '../protocol/errors.ts'
import { count } from '../shape/count.ts'
import type { Snapshot } from './change.ts'
import { busy } from './intent.ts'
import { isActive, isHeld, type Operation, type OperationState } from './operation.ts'

/** What an operator does to one operation. */
export const operationVerbs = ['retry', 'cancel', 'fail', 'hold', 'release', 'run-now'] as const
export type OperationVerb = (typeof operationVerbs)[number]

/** Why it is refused; undefined where it is allowed. */
export type Refusal = string | undefined

type Judgement = Partial<Record<OperationState | Action, string>>

const notEnded = 'It has not ended.'
const hasEnded = 'It has ended: its result never changes.'
const ended: Judgement = { succeeded: hasEnded, failed: hasEnded, superseded: hasEnded }
const giveUp = 'Abandon the instance to end it.'
const isRunning = 'It is running.'
const timeIsUp = 'Its time is up: it fails as soon as a worker is free.'
const notSure = 'It waits until what was before it is surely over.'

/** The one table: what refuses a verb, by the state of the operation, and then by its action. */
const refusals: Readonly<Record<OperationVerb, Judgement>> = {
  retry: {
    running: notEnded,
    succeeded: 'It has succeeded: there is nothing to try again.',
    superseded: 'Another operation has taken its place.',
    observe: 'The next observation comes by itself.',
    sweep: 'A sweep is not tried again. Sweep the instance, or the binding, once more.',
  },
  cancel: {
    ...ended,
    deprovision: 'A deletion that was accepted is not taken back. Fail it, and the platform may ask again.',
    unbind: 'A deletion that was accepted is not taken back. Fail it, and the platform may ask again.',
    sweep: `What it removes would stay behind. ${giveUp}`,
  },
  fail: {
    ...ended,
    observe: 'No platform waits for its result. Cancel it.',
    sweep: `No platform waits for its result. ${giveUp}`,
  },
  hold: {
    ...ended,
    running: isRunning,
    observe: 'No platform waits for its result. Cancel it.',
    sweep: `No platform waits for its result. ${giveUp}`,
  },
  release: { ...ended, running: isRunning },
  'run-now': {
    ...ended,
    running: isRunning,
    sweep: 'It waits until no call of before can land any more.',
  },
}

/** By its own row alone. */
export function judgeOperation(verb: OperationVerb, operation: Operation, now: number): Refusal {
  const { state, action } = operation
  const refused = refusals[verb][state] ?? refusals[verb][action]
  if (refused !== undefined || !isActive(operation)) return refused
  if (operation.error !== undefined) return 'An operator has ended it: it fails as soon as nobody works on it any more.'
  if (verb === 'cancel' || verb === 'fail') return undefined
  return verb === 'run-now' || verb === 'hold' ? judgeWaiting(verb, operation, now) : judgeRelease(verb, operation, now)
}

function judgeWaiting(verb: 'run-now' | 'hold', operation: Operation, now: number): Refusal {
  const { notBefore, deadlineAt, attempt, input } = operation
  if (isHeld(operation)) return verb === 'hold' ? 'It is held.' : 'It is held: release it.'
  const isDue = notBefore <= now
  if (verb === 'hold' && deadlineAt <= now) return timeIsUp
  if (verb === 'hold' && input.sweepFirst !== undefined) return notSure
  if (verb === 'run-now' && isDue) return 'It is due: a worker takes it as soon as one is free.'
  return attempt === 0 && !isDue ? notSure : undefined
}

/** To try again what is held is to release it. */
function judgeRelease(verb: 'retry' | 'release', operation: Operation, now: number): Refusal {
  if (!isHeld(operation)) return verb === 'retry' ? notEnded : 'It is not held.'
  return operation.deadlineAt <= now ? timeIsUp : undefined
}

/** By what else there is of its resource, too. `operation` is as it was read, `snapshot` is what is true now. */
export function judgeVerb(
  verb: OperationVerb,
  operation: Operation,
  snapshot: Snapshot,
  { cascade }: { readonly cascade: boolean },
): Refusal {
  const refused = judgeOperation(verb, operation, snapshot.now)
  const isOpen: boolean = isActive(operation)
  if (refused !== undefined || isOpen) return refused
  const { instance, liveBindings, busyBindings } = snapshot
  const isInstances = operation.bindingId === undefined
  const resource = isInstances ? instance : snapshot.binding
  if (instance === undefined || resource === undefined || resource.phase === 'deleted' || instance.phase === 'deleted')
    return 'What it was about has been deleted.'
  if (resource.lastOperationId !== operation.id) return 'A later operation has followed it.'
  const other = [snapshot.operation, snapshot.bindingOperation].find(
    active => active !== undefined && active.action !== 'observe',
  )
  if (other !== undefined) return busy(other, other.bindingId === undefined ? 'The instance' : 'The binding').message
  if (isInstances && busyBindings > 0) return busy(undefined, 'A binding of the instance').message
  if (operation.action === 'deprovision' && liveBindings > 0 && !cascade)
    return `The instance has ${count(liveBindings, 'binding')}: they go first.`
  if (operation.action === 'bind' && !instance.usable) return 'The instance is not usable.'
  return undefined
}

/** As it is under the lock; undefined where it was active and is not any more. */
export function operationNow(read: Operation, snapshot: Snapshot): Operation | undefined {
  const active = read.bindingId === undefined ? snapshot.operation : snapshot.bindingOperation
  if (active?.id === read.id) return active
  return isActive(read) ? undefined : read
}

/** The operation as it is under the lock, where the verb is allowed. */
export function allowed(
  verb: OperationVerb,
  read: Operation,
  snapshot: Snapshot,
  settings: { readonly cascade: boolean },
): Operation {
  const operation = operationNow(read, snapshot)
  if (operation === undefined) throw new BrokerError('VerbRefused', 'It has ended meanwhile. Look at it again.')
  const refused = judgeVerb(verb, operation, snapshot, settings)
  if (refused !== undefined) throw new BrokerError('VerbRefused', refused)
  return operation
}
