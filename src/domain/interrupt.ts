import type { Binding } from './binding.ts'
import type { Snapshot } from './change.ts'
import type { Instance } from './instance.ts'
import type { Intent } from './intent.ts'
import type { Operation } from './operation.ts'

/**
 * The instance after an observation of it was superseded by what is not its own: an unbind, or an operator. The observation may be at
 * work on the instance and on any of its bindings until its holder hands the lease back or the lease is over, while other bindings are
 * unbound and the next observation is due. So the row says what those wait for, and until when a late call may land. `landsWithin`:
 * so long after a lease.
 */
export function interrupted(instance: Instance, observation: Operation, now: number, landsWithin: number): Instance {
  const { id, state, attempt, leaseUntil = now } = observation
  const until = state === 'running' ? Math.max(now, leaseUntil) : now
  const uncleanUntil = attempt > 0 ? Math.max(instance.uncleanUntil ?? 0, until + landsWithin) : instance.uncleanUntil
  const drains = drainedAt({ drains: [...(instance.drains ?? []), { operationId: id, until }] }, now)
  return { ...instance, uncleanUntil, drains }
}

/** The same by an unbind: what the observation has not seen yet, the next one sees at once. */
export function observedAgain(
  instance: Instance,
  observation: Operation,
  now: number,
  { landsWithin }: Pick<Intent, 'landsWithin'>,
): Instance {
  const { observeAt } = instance
  const soon = observeAt === undefined ? undefined : Math.min(observeAt, now)
  return { ...interrupted(instance, observation, now, landsWithin), observeAt: soon }
}

/** Whether a call for the binding, also one of its instance's operations, may land after its deletion has begun. */
export function isUnclean(binding: Binding, { instance, now }: Pick<Snapshot, 'instance' | 'now'>): boolean {
  return Math.max(binding.uncleanUntil ?? 0, instance?.uncleanUntil ?? 0) > now
}

/** Those that may still be at work. */
export function drainedAt({ drains = [] }: Pick<Instance, 'drains'>, now: number): Instance['drains'] {
  const left = drains.filter(({ until }) => until > now)
  return left.length === 0 ? undefined : left
}
