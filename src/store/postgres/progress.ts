import type { Checkpoint, Lease, Parking } from '../../store.ts'
import { toText } from '../columns.ts'
import { keyOf } from '../keys.ts'
import { seal } from '../sealing.ts'
import type { Calls } from './database.ts'
import { createGatherer } from './gather.ts'
import { fromStep } from './rows.ts'

/**
 * A step's checkpoint must be on the disk before the next step begins: a round trip each. But those of operations that run
 * beside each other go together, one round trip and one sync for all, while a batch before them is committed.
 */
export function createCheckpoints({ run, statements }: Calls) {
  async function writeAlone({ lease, checkpoint }: Item): Promise<boolean> {
    const { description, step, state } = checkpoint
    const values = [toText(description), step && JSON.stringify(fromStep(step)), state && seal(state)]
    const key = keyOf(lease.operationId)
    const [row] = await run(statements.checkpoint, [key, lease.fence, ...values.map(value => value ?? null)])
    return row?.held === true
  }

  const writeTogether = createGatherer<Item, boolean>({
    alone: writeAlone,
    async send(items) {
      const rows = await run(statements.checkpoints, [JSON.stringify(items.map(toRow))])
      const written = new Set(rows.map(row => row.fence))
      // A row whose lease is lost, or that somebody else has locked, was not written. Tried alone, it finds out which.
      return items.map(item => written.has(item.lease.fence) || undefined)
    },
  })

  return (lease: Lease, checkpoint: Checkpoint): Promise<boolean> => {
    const item = { lease, checkpoint }
    // The state of an instance is written under the instance's lock, and nobody waits for a lock while holding others.
    return checkpoint.state === undefined ? writeTogether(item) : writeAlone(item)
  }
}

export async function renew(
  { run, statements }: Calls,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<readonly Lease[]> {
  const ids = leases.map(lease => keyOf(lease.operationId))
  const rows = await run(statements.renew, [ids, leases.map(lease => lease.fence), leaseMs])
  const held = new Map(rows.map(row => [row.fence, row.id]))
  return leases.filter(({ fence }, index) => held.get(fence) === ids[index])
}

export async function park({ run, statements }: Calls, lease: Lease, parking: Parking): Promise<boolean> {
  const { until, description, step } = parking
  const written = step === undefined ? null : JSON.stringify(fromStep(step))
  const values = [keyOf(lease.operationId), lease.fence, until, toText(description), written]
  const [row] = await run(statements.park, values)
  return row?.held === true
}

/** Answers whether anybody can start because of it. */
export async function handBack({ run, statements }: Calls, lease: Lease): Promise<boolean> {
  const [row] = await run(statements.handBack, [keyOf(lease.operationId), lease.fence])
  return row?.opened === true
}

interface Item {
  readonly lease: Lease
  readonly checkpoint: Checkpoint
}

function toRow({ lease, checkpoint: { description, step } }: Item): object {
  return {
    id: keyOf(lease.operationId),
    fence: lease.fence,
    description: toText(description),
    step: step === undefined ? null : fromStep(step),
  }
}
