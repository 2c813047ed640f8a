import type { Clock } from '../../clock.ts'
import { StoreUnavailableError } from '../../store.ts'

export interface Turns {
  /**
   * Runs the work when all that was asked for under the same key before has ended. In one process, those that would only
   * conflict in the database wait for each other instead, and are served in the order in which they came.
   */
  take<Result>(key: string, work: () => Promise<Result>): Promise<Result>
}

/** Work whose turn has not come after `patienceMs` is not begun: what stands before it does not get on. */
export function createTurns(clock: Clock, patienceMs: number): Turns {
  const last = new Map<string, Promise<unknown>>()

  return {
    take(key, work) {
      const before = last.get(key)
      const begin = async () => {
        if (clock.now() < latest) return work()
        throw new StoreUnavailableError('the ledger did not get to it in time: others wait for the same instance')
      }
      const latest = clock.now() + patienceMs
      const turn = before === undefined ? work() : before.then(begin)
      const ended = turn.then(ignore, ignore).then(() => {
        if (last.get(key) === ended) last.delete(key)
      })
      last.set(key, ended)
      return turn
    },
  }
}

function ignore(): void {}

/** Lets at most `width` through at a time, in the order in which they came. */
export function createGate(width: number) {
  const waiting: (() => void)[] = []
  let inside = 0
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (inside < width) inside += 1
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) inside -= 1
      else next()
    }
  }
}
