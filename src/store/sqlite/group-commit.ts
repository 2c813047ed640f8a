import type { WakeUp } from '../../store.ts'

/**
 * One write, in two parts: what the job itself does reads and decides and may throw, which rejects this job alone; what
 * it returns writes. A job may be run again after everything it did was rolled back, so it keeps nothing in between.
 */
export type Job<Result> = (wake: WakeUp[]) => () => Result

export interface Transactions {
  begin(): void
  commit(): void
  /** Called after any failure, also where the database has rolled back by itself. */
  rollback(): void
  /** Whether the error came from the database: then the transaction cannot be trusted any more. */
  isDatabaseError(error: unknown): boolean
  /** What the caller is told of an error. */
  translate(error: unknown): unknown
}

/**
 * Gathers writes into one transaction, so that many requests share one sync of the disk: as long as each turn of the event loop
 * brings more of them, it waits for the next turn, since who comes during a sync has to wait for a whole one.
 * Where a write or the commit fails, everything is rolled back and the jobs run one by one: a bad one fails alone.
 */
export function createGroupCommit(transactions: Transactions, wake: (wakeUps: readonly WakeUp[]) => void) {
  let queue: Entry[] = []

  function gather(known: number, turns: number): void {
    const { length } = queue
    if (length > known && length < largestBatch && turns < mostTurns) setImmediate(gather, length, turns + 1)
    else next()
  }

  function next(): void {
    const batch = queue
    queue = batch.splice(largestBatch)
    if (queue.length > 0) setImmediate(next)
    commit(batch)
  }

  function commit(batch: readonly Entry[]): void {
    if (batch.length === 0) return
    const wakeUps: WakeUp[] = []
    let settlements: readonly (() => void)[]
    try {
      transactions.begin()
      settlements = batch.map(entry => runEntry(transactions, entry, wakeUps))
      transactions.commit()
    } catch (error) {
      transactions.rollback()
      if (batch.length === 1) batch[0]?.reject(error)
      else for (const entry of batch) commit([entry])
      return
    }
    for (const settle of settlements) settle()
    wake(wakeUps)
  }

  return {
    /** Resolves when the job's effect is on the disk. */
    run<Result>(job: Job<Result>) {
      return new Promise<Result>((resolve, reject) => {
        if (queue.length === 0) setImmediate(gather, 0, 0)
        queue.push({
          job,
          resolve: resolve as (value: unknown) => void,
          reject: error => reject(transactions.translate(error)),
        })
      })
    },
    /** Does at once what is still queued. */
    flush() {
      while (queue.length > 0) next()
    },
  }
}

/** Bounds how long the first write waits for others. */
const mostTurns = 8

/** Bounds how long one transaction holds the event loop. */
const largestBatch = 500

interface Entry {
  readonly job: Job<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Answers how to settle the entry once the transaction is committed; throws where the transaction has failed. */
function runEntry(transactions: Transactions, { job, resolve, reject }: Entry, wakeUps: WakeUp[]): () => void {
  let write: () => unknown
  try {
    write = job(wakeUps)
  } catch (error) {
    if (transactions.isDatabaseError(error)) throw error
    return () => reject(error)
  }
  const value = write()
  return () => resolve(value)
}
