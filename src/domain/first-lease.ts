import type { Change } from './change.ts'
import { claimed, type Operation } from './operation.ts'

/**
 * An operation of the change that can be leased as it is written: a new one that waits for nothing. One that begins with steps of
 * another is claimed, which reads them.
 */
export function dueAtOnce({ operations = [], copySteps }: Change, now: number): Operation | undefined {
  if (copySteps !== undefined) return undefined
  return operations.find(
    ({ state, acceptedAt, attempt, notBefore, input }) =>
      state === 'queued' && acceptedAt === now && attempt === 0 && notBefore <= now && input.sweepFirst === undefined,
  )
}

export type FirstLease = Required<Pick<Operation, 'leaseOwner' | 'leaseUntil' | 'fence'>>

/** The change with that operation leased, as a claim would find it and leave it. */
export function leased(change: Change, due: Operation, lease: FirstLease, now: number): Change {
  const held = { ...claimed(due, now), ...lease }
  return { ...change, operations: change.operations?.map(operation => (operation === due ? held : operation)) }
}
