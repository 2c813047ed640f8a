import type { Binding } from './binding.ts'
import type { Change } from './change.ts'
import type { Instance } from './instance.ts'
import type { Operation } from './operation.ts'

/** The id of a sweep that a creation takes along: it has no row of its own before it has ended, or stands alone. */
export function sweepId(creation: Pick<Operation, 'id'>, round = ''): string {
  return `${creation.id}-sweep${round}`
}

/**
 * A creation under an id whose deletion is still being swept takes the sweep along and does it first. This is what it takes:
 * the sweep, under an id that no row has, and the tombstone of the resource that is swept.
 */
export interface SweepFirst extends Tombstone {
  readonly sweep: Operation
}

/** One of the two. */
export interface Tombstone {
  readonly instance?: Instance
  readonly binding?: Binding
}

/** As if nobody had claimed it yet. */
export const unclaimed = {
  state: 'queued',
  attempt: 0,
  losses: 0,
  unclean: false,
  leaseOwner: undefined,
  leaseUntil: undefined,
  drains: undefined,
  checkpointAt: undefined,
  description: undefined,
} as const

/** `by` has superseded the sweep `old`. It is due when that was, but never later than its own deadline. */
export function takeAlong(by: Operation, old: Operation, tombstone: Tombstone): Operation {
  const sweep = { ...old, ...unclaimed, id: sweepId(by), fence: 0 }
  return {
    ...by,
    ...handedOver(old),
    input: { ...by.input, sweepFirst: { sweep, ...tombstone } },
    description: 'waiting until what was deleted under this id is surely gone',
    notBefore: Math.min(Math.max(by.notBefore, old.notBefore), by.deadlineAt),
  }
}

/** The sweep as it runs, under the lease of the operation that it stands before. */
export function sweepOf(operation: Operation, { sweep }: SweepFirst): Operation {
  const { state, attempt, losses, unclean, leaseOwner, leaseUntil, fence, checkpointAt } = operation
  const lease = { state, attempt, losses, unclean, leaseOwner, leaseUntil, fence, checkpointAt }
  return { ...sweep, ...lease, deadlineAt: Math.min(operation.deadlineAt, sweep.deadlineAt) }
}

/** The creation ends and has never begun: the sweep stands alone again, and the id is deleted as it was. */
export function undo(
  operation: Operation,
  { sweep, instance, binding }: SweepFirst,
): Pick<Change, 'instance' | 'bindings'> & { readonly sweep: Operation } {
  const held = operation.state === 'running' ? (operation.leaseUntil ?? 0) : 0
  const alone = { ...sweep, ...handedOver(operation), notBefore: Math.max(sweep.notBefore, held) }
  return { sweep: alone, instance, bindings: binding === undefined ? undefined : [binding] }
}

/** What the next holder of a sweep has to know. One that only waited holds no lease that could be handed back too early. */
function handedOver({ id, state, attempt, unclean }: Operation): Pick<Operation, 'drains' | 'unclean'> {
  return { drains: state === 'running' ? id : undefined, unclean: unclean || attempt > 0 }
}

/** The operation without its sweep. */
export function withoutSweep(operation: Operation): Operation {
  if (operation.input.sweepFirst === undefined) return operation
  const { sweepFirst: _done, ...input } = operation.input
  return { ...operation, input }
}
