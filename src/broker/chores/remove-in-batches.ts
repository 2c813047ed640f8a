import type { ChoreRun } from '../../engine/chore-run.ts'

/** Small enough that the locks of one batch delay no request. */
const batchSize = 500

/** Removes until nothing is left, a batch at a time, and says how much that was. */
export async function removeInBatches(
  { signal }: ChoreRun,
  remove: (max: number) => Promise<number>,
  noun: readonly [one: string, many: string],
): Promise<string | undefined> {
  let removed = 0
  while (true) {
    signal.throwIfAborted()
    const count = await remove(batchSize)
    removed += count
    if (count === 0)
      return removed === 0 ? undefined : `removed ${toText(removed)} ${removed === 1 ? noun[0] : noun[1]}`
  }
}

function toText(count: number): string {
  return count.toLocaleString('en-US')
}
