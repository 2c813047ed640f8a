/** What is known of the workers and of what waits for them. Times in milliseconds. */
export interface QueueLoad {
  /** Operations that are due, and wait. */
  readonly ahead: number
  /** How many operations this process runs at a time, and how many all replicas do. */
  readonly slots: number
  readonly allSlots: number
  /** For how long each of those that this process runs has had its slot. */
  readonly ages: readonly number[]
  /** How long one has its slot, as a rule; undefined until one has given it back. */
  readonly usual: number | undefined
  /** For how long nothing has begun or ended, though something waits: a process that is held up does not use its slots. */
  readonly still: number
}

/**
 * How long an operation that is accepted now waits for a slot. Due ones are claimed in their order, so it begins when all that
 * are due have a slot and one more is given back. An estimate that is rather too short: 0 where a slot is free, or nothing is
 * known. A slot that was held for longer than usual counts for as little as it has done: one operation that hangs slows down
 * its own slot, and a backend that hangs all of them.
 */
export function timeToBegin({ ahead, slots, allSlots, ages, usual = 0, still }: QueueLoad): number {
  const free = slots - ages.length
  if (slots === 0 || ahead < free) return 0
  const ofFree = free > 0 ? free / Math.max(still, usual) : 0
  const pace = ages.reduce((sum, age) => sum + 1 / Math.max(age, usual), ofFree)
  return (ahead + 1) / ((pace * allSlots) / slots)
}

export interface Timing {
  /** How long the operation may take in all. */
  readonly limit: number
  /** How long one like it has a slot, as a rule; 0 where nobody knows. */
  readonly run: number
}

/** Of the time that is left. Estimates are rather too short, and others may slow this machine down meanwhile. */
const mayWait = 0.8

/**
 * By how much it would be too late, if it were accepted now: that long, and there is room for it. It has to begin early enough
 * to run as long as those like it; where they take longer than it may, that says nothing.
 */
export function lateBy(load: QueueLoad, { limit, run }: Timing): number {
  const left = run < limit ? limit - run : limit
  return Math.max(0, timeToBegin(load) - left * mayWait)
}
