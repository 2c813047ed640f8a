export interface Gate {
  pass<Result>(work: () => Promise<Result>): Promise<Result>
}

/** Lets at most `width` through at a time, in the order in which they came. */
export function createGate(width: number): Gate {
  const waiting: (() => void)[] = []
  let inside = 0

  return {
    async pass(work) {
      if (inside < width) inside += 1
      else await new Promise<void>(resolve => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) inside -= 1
        else next()
      }
    },
  }
}
