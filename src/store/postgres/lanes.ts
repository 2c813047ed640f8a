/** How a batch went: `ms` from here to its answer, of which the server worked on it for `workMs`. */
export interface BatchTimes {
  readonly ms: number
  readonly workMs: number
}

/**
 * How many batches are best under way at a time. Mostly one: what comes meanwhile is the next, and a second one beside it makes
 * both smaller, while each costs the server and this process the same again. Only where a batch waits for the network or the
 * disk many times as long as it is worked on, calls would wait for it too long.
 */
export function createLanes() {
  let waits: readonly number[] = []
  let workMs = 1
  let count = 1
  return {
    count: () => count,
    learn(times: BatchTimes) {
      // The shortest of the last waits: the others tell how busy this process was.
      waits = [...waits.slice(-remembered), Math.max(0, times.ms - times.workMs)]
      workMs += (Math.max(times.workMs, leastMs) - workMs) / remembered
      count = Math.min(mostLanes, Math.floor(1 + Math.min(...waits) / (long * workMs)))
    },
  }
}

const remembered = 15
/** A small batch is not worked on for long, and does not wait for long either. */
const leastMs = 1
const long = 4
/** Each is a connection of the pool and a process of the server. */
export const mostLanes = 4
