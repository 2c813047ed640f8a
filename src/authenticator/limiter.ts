/**
 * Runs a few tasks at a time. Some more wait for their turn; the others are refused at once: where too many are waiting
 * already, the result is undefined.
 */
export function createLimiter({ running, waiting }: { running: number; waiting: number }) {
  const queue: (() => void)[] = []
  let busy = 0
  return {
    async run<Result>(task: () => Promise<Result>): Promise<Result | undefined> {
      if (busy >= running) {
        if (queue.length >= waiting) return undefined
        // The one that ends hands its place over, so that nobody gets in between.
        await new Promise<void>(resolve => queue.push(resolve))
      } else {
        busy += 1
      }
      try {
        return await task()
      } finally {
        const next = queue.shift()
        if (next === undefined) busy -= 1
        else next()
      }
    },
  }
}
