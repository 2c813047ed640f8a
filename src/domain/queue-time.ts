/** What is known of the workers and of what waits for them. Times in milliseconds. */
export interface QueueLoad {
  /** Operations that are due, and wait. */
  readonly ahead: number
  /** How long one of those has a slot, with the time that the slot is empty before, as a rule. */
  readonly turn: number
  /** How many operations this process runs at a time, and how many all replicas do. */
  readonly slots: number
  readonly allSlots: number
  /** What this process runs. */
  readonly running: readonly Run[]
  /** For how long nothing has begun or ended, though something waits: a process that is held up does not use its slots. */
  readonly still: number
}

export interface Run {
  /** For how long it has had its slot. */
  readonly age: number
  /** How long one of its kind has it, as a rule; undefined until one has given it back. */
  readonly usual: number | undefined
}

/** What nobody knows is not taken for nothing. */
const least = 2_000

/** How long one of a kind has a slot of which none has ended: twice as long as those that run have had theirs so far. */
export function guess(age: number): number {
  return Math.max(least, 2 * age)
}

/**
 * How long an operation that is accepted now waits for a slot. Due ones are claimed in their order, so it begins when all that
 * are due have a slot and one more is given back. 0 where a slot is free. One operation that hangs slows down its own slot, and a
 * backend that hangs all of them.
 */
export function timeToBegin({ ahead, turn, slots, allSlots, running, still }: QueueLoad): number {
  const free = Math.max(0, slots - running.length)
  if (slots === 0 || ahead < free) return 0
  const firsts = [...running.map(timeLeft), ...Array<number>(free).fill(still)]
  // The slots of other replicas are taken for some that are used as those here.
  const count = Math.ceil(((ahead + 1) * slots) / allSlots)
  return givenBack(firsts, free > 0 ? Math.max(turn, still) : turn, count)
}

/** What has run for longer than usual may go on for as long as it has done since. */
function timeLeft({ age, usual }: Run): number {
  return Math.abs((usual ?? guess(age)) - age)
}

/** When slots have been given back so many times: each for the first time when what it runs ends, and then after every turn. */
function givenBack(firsts: readonly number[], turn: number, count: number): number {
  const first = Math.ceil(Math.min(...firsts))
  if (turn === 0) return first
  const countAt = (time: number) =>
    firsts.reduce((sum, at) => (time < at ? sum : sum + 1 + Math.floor((time - at) / turn)), 0)
  let [early, enough] = [first - 1, first + Math.ceil(count * turn)]
  while (enough - early > 1) {
    const middle = Math.floor((early + enough) / 2)
    if (countAt(middle) < count) early = middle
    else enough = middle
  }
  return enough
}

export interface Timing {
  /** How long the operation may take in all. */
  readonly limit: number
  /** How long one like it has a slot, as a rule. */
  readonly run: number
}

/** Of the time that is left. It is an estimate, and others may slow this machine down meanwhile. */
const mayWait = 0.8

/**
 * By how much it would be too late, if it were accepted now: that long, and there is room for it. It has to begin early enough
 * to run as long as those like it; where they take longer than it may, that says nothing.
 */
export function lateBy(load: QueueLoad, { limit, run }: Timing): number {
  const left = run < limit ? limit - run : limit
  return Math.max(0, timeToBegin(load) - left * mayWait)
}
