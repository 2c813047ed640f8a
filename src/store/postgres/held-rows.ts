import type { Checkpoint, Claim, Finishing, Instance, Lease, Operation } from '../../store.ts'

/** What the end of an operation is decided from, and how the server recognises it. */
export interface Looked {
  readonly snapshot: Finishing
  readonly version: string
  /** The time of a decision that was made without a look; none where the server told the time. */
  readonly now: number | null
}

/** What a version says of an instance besides its operation. */
export interface InstanceRows {
  readonly instanceXmin: string
  readonly live: number
}

interface Known extends InstanceRows {
  readonly instance: Instance
  readonly operation: Operation
  readonly operationXmin: string
}

export type HeldRows = ReturnType<typeof createHeldRows>

/**
 * The rows of the operations that this process holds, with their versions, so that most ends need no look. They follow what
 * the process writes itself; whatever else has changed them has given them another version, and the end is decided again.
 * Only operations of instances, and none of whose bindings is busy: else others have a part in what is decided.
 */
export function createHeldRows() {
  const known = new Map<string, Known>()

  /** The operation of the lease, as long as this process knows all about it. */
  function find({ operationId, fence }: Lease): Known | undefined {
    const found = known.get(operationId)
    return found?.operation.fence === fence ? found : undefined
  }

  return {
    /** The lease was given by this transaction. */
    learn({ operation, instance }: Claim, transaction: unknown, rows: InstanceRows): void {
      known.delete(operation.id)
      if (operation.bindingId !== undefined) return
      known.set(operation.id, { operation, instance, operationXmin: xminOf(transaction), ...rows })
      // A lease that was lost may leave its rows behind.
      const [oldest] = known.size > most ? known.keys() : []
      if (oldest !== undefined) known.delete(oldest)
    },
    noteCheckpoint(lease: Lease, { step, description, state }: Checkpoint, transaction: unknown, now: number): void {
      const found = find(lease)
      if (found === undefined) return
      if (state !== undefined) return void known.delete(lease.operationId)
      const progress = step?.state === 'done' ? { losses: 0, checkpointAt: now } : {}
      const operation = { ...found.operation, description: description ?? found.operation.description, ...progress }
      known.set(lease.operationId, { ...found, operation, operationXmin: xminOf(transaction) })
    },
    /** Somebody has written the row in a way that is not followed here. */
    forget: ({ operationId }: Lease) => void known.delete(operationId),
    /** For its end, at this time of the database. */
    take(lease: Lease, now: number | undefined): Looked | undefined {
      const found = find(lease)
      known.delete(lease.operationId)
      if (found === undefined || now === undefined) return undefined
      const { operation, instance, instanceXmin, operationXmin, live } = found
      const bindings = { liveBindings: live, busyBindings: 0, sweptBindings: 0 }
      const snapshot = { now, instance, operation, ...bindings, finishing: operation }
      return { snapshot, version: `${instanceXmin} ${operationXmin} ${live} 0`, now }
    },
  }
}

/** More than run at a time in a process. */
const most = 10_000

/** Rows carry the last 32 bits of the number of their transaction. */
export function xminOf(transaction: unknown): string {
  return `${Number(transaction) % 2 ** 32}`
}
