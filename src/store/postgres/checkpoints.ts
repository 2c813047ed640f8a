import type { Checkpoint, Lease } from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { toText } from '../columns.ts'
import { keyOf } from '../keys.ts'
import { seal } from '../sealing.ts'
import type { Database } from './database.ts'
import { createGatherer } from './gather.ts'
import { fromStep } from './rows.ts'
import type { Statements } from './statements.ts'

/**
 * A step's checkpoint must be on the disk before the next step begins: a round trip each. But those of operations that run
 * beside each other go together, one round trip and one sync for all, while a batch before them is committed.
 */
export function createCheckpoints(
  { run }: Database,
  statements: Statements,
): (lease: Lease, checkpoint: Checkpoint) => Promise<boolean> {
  async function writeAlone({ lease, checkpoint }: Item): Promise<boolean> {
    const { description, step, state } = checkpoint
    const values = [toText(description), step && JSON.stringify(fromStep(step)), state && seal(state)]
    const key = keyOf(lease.operationId)
    const [row] = await run(statements.checkpoint, [key, lease.fence, ...values.map(value => value ?? null)])
    return row?.held === true
  }

  const writeTogether = createGatherer<Item, boolean>(lanes, async items => {
    try {
      const rows = await run(statements.checkpoints, [JSON.stringify(items.map(toRow))])
      const written = new Set(rows.map(row => row.fence))
      // What was not held, or locked by somebody else, is not written: alone it finds out which, and keeps nobody waiting.
      return items.map(item => written.has(item.lease.fence) || writeAlone(item))
    } catch (error) {
      // Refused is rolled back: each is told its own answer. One that may have been done is never repeated.
      if (error instanceof StoreUnavailableError) throw error
      return items.map(writeAlone)
    }
  })

  return (lease, checkpoint) => {
    const item = { lease, checkpoint }
    // The state of an instance is written under the instance's lock, and nobody waits for a lock while holding others.
    return checkpoint.state === undefined ? writeTogether(item) : writeAlone(item)
  }
}

/** One is committed while the next is on its way. */
const lanes = 2

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
