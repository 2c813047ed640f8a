import { BrokerError } from '../protocol/errors.ts'
import { count } from '../shape/count.ts'
import type { Binding } from './binding.ts'
import type { Change, Snapshot, Verdict } from './change.ts'
import type { Instance } from './instance.ts'
import { doneByHand, historyOf, superseded } from './intent.ts'
import { isHeld, nextState, type Operation } from './operation.ts'
import { type Acting, acted } from './operator.ts'
import { deletedBinding, tombstone } from './settle-instance.ts'

export interface AbandonIntent extends Acting {
  readonly instanceId: string
  /** The id of the deletion that is written as done, where none is under way. */
  readonly operationId: string
  /** Live bindings are abandoned, too, instead of refusing it. */
  readonly bindings: boolean
  /** How long a call may take to land after the lease that it was sent under. */
  readonly sweepDelay: number
}

/** What was there before, and what answers polls from now on. */
export interface Abandoned<Row> {
  readonly before: Row
  readonly after: Row
  /** What was active, as it has ended. */
  readonly ended?: Operation
}

/** Refuses what cannot be abandoned, before any of its bindings is. */
export function checkAbandon(snapshot: Snapshot, { bindings }: Pick<AbandonIntent, 'bindings'>): Instance {
  const { instance, operation, liveBindings, busyBindings } = snapshot
  if (instance === undefined) throw new BrokerError('InstanceNotFound', 'There is no instance with this id.')
  const { phase, revisionId, nextRevisionId } = instance
  // A deletion that is still swept, or whose sweep has failed, holds its revision.
  const isHeld = operation !== undefined || revisionId !== undefined || nextRevisionId !== undefined
  if (phase === 'deleted' && !isHeld)
    throw new BrokerError('InstanceGone', 'The instance has been deleted, and the broker holds nothing for it.')
  if (!bindings && Math.max(liveBindings, busyBindings) > 0)
    throw new BrokerError(
      'BindingsExist',
      `The instance still has ${count(Math.max(liveBindings, busyBindings), 'binding')}: ask for its bindings to be abandoned, too, or delete them first. Nothing was changed.`,
    )
  return instance
}

/**
 * An operator gives an instance up: it counts as deleted, and nothing of its author's is run. Whatever is active on it ends
 * here, and its holder can write nothing more; since one of its calls may still land, nothing is created under the id before
 * the lease is over and the longest call as well (`uncleanUntil`). Polls are answered as after a deprovision. Undefined:
 * bindings have come meanwhile, and go first.
 */
export function decideAbandon(snapshot: Snapshot, intent: AbandonIntent): Verdict<Abandoned<Instance> | undefined> {
  const instance = checkAbandon(snapshot, intent)
  if (snapshot.liveBindings + snapshot.busyBindings + snapshot.sweptBindings > 0) return { answer: undefined }
  const { operation, now } = snapshot
  const ending = end({ row: instance, active: operation, action: 'deprovision' }, intent, now)
  const after = { ...tombstone(instance, instance.deletedAt ?? now), ...ending.written, awaitsCatalog: undefined }
  return { answer: { before: instance, after, ended: ending.ended }, change: { instance: after, ...ending.change } }
}

/** The same for one binding, whatever its instance does. Undefined: there is nothing to abandon. */
export function decideAbandonBinding(
  snapshot: Snapshot,
  intent: AbandonIntent,
): Verdict<Abandoned<Binding> | undefined> {
  const { binding, bindingOperation, now } = snapshot
  if (binding === undefined || (binding.phase === 'deleted' && bindingOperation === undefined))
    return { answer: undefined }
  const ending = end({ row: binding, active: bindingOperation, action: 'unbind' }, intent, now)
  const after = { ...deletedBinding(binding, now, false), ...ending.written }
  return { answer: { before: binding, after, ended: ending.ended }, change: { bindings: [after], ...ending.change } }
}

interface Ending<Row> {
  readonly row: Row
  readonly active: Operation | undefined
  readonly action: 'deprovision' | 'unbind'
}

function end<Row extends Instance | Binding>(
  { row, active, action }: Ending<Row>,
  intent: AbandonIntent,
  now: number,
): {
  readonly written: Pick<Row, 'lastOperationId' | 'uncleanUntil' | 'updatedAt'>
  readonly ended?: Operation
  readonly change: Pick<Change, 'operations' | 'history'>
} {
  const { instanceId, sweepDelay } = intent
  const bindingId = 'instanceId' in row ? row.id : undefined
  const ended = active && endOf(active, action, now)
  const answers = ended?.action === action ? ended : row.phase === 'deleted' ? undefined : done()
  const lastOperationId = answers?.id ?? row.lastOperationId
  const event = acted('abandon', intent, {
    at: now,
    instanceId,
    bindingId,
    operationId: lastOperationId,
    action,
    before: { phase: row.phase, ...(active && { operation: active.id, action: active.action, state: active.state }) },
    after: { phase: 'deleted' },
  })
  const isTakenOver = ended?.state === 'superseded' && ended.action !== 'observe' && ended.action !== 'sweep'
  return {
    written: { lastOperationId, uncleanUntil: quietUntil(row.uncleanUntil, active, now, sweepDelay), updatedAt: now },
    ended,
    change: {
      operations: [ended, answers === ended ? undefined : answers].filter(operation => operation !== undefined),
      history: isTakenOver ? [historyOf(ended, 'superseded', now), event] : [event],
    },
  }

  /** What polls of the deletion find, as if it had run. */
  function done(): Operation {
    const { operationId, requestId } = intent
    const { serviceId, planId } = row
    const platform = 'platform' in row ? row.platform : undefined
    const made = { operationId, instanceId, serviceId, planId, platform, requestId }
    return doneByHand(made, action, now, { verb: 'abandon', description: sayAbandoned, bindingId })
  }
}

const sayAbandoned = 'deleted by an operator of the broker'

/** A deletion that is under way is what platforms poll: it is the one that has succeeded. */
function endOf(active: Operation, action: Ending<unknown>['action'], now: number): Operation {
  const { sweepFirst: _swept, ...input } = active.input
  const operation = { ...active, input }
  if (active.action !== action) return superseded(operation, 'an operator', now)
  // Its lease stays in the row: whoever shares something with it has to know how long its holder may be at work.
  const done = {
    state: nextState(active.state, 'abandon'),
    description: sayAbandoned,
    hold: undefined,
    error: undefined,
  }
  return { ...operation, ...done, finishedAt: now }
}

/** Until when a call of before may land. What has never run, and waits for nothing, has sent none. */
function quietUntil(
  before: number | undefined,
  active: Operation | undefined,
  now: number,
  sweepDelay: number,
): number | undefined {
  if (active === undefined) return before
  const { state, leaseUntil = now, attempt, notBefore, unclean } = active
  const waits = attempt === 0 && !isHeld(active) ? notBefore : now
  const held = Math.max(now, state === 'running' ? leaseUntil : waits)
  const mayLand = unclean || attempt > 0 || held > now
  return mayLand ? Math.max(before ?? 0, held + sweepDelay) : before
}
