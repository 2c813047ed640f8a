/**
 * Lets many calls share one statement: what comes while `lanes` batches are under way waits for the next one, and they go
 * together. Where nothing is under way a call is sent at once, so that a single one waits for nobody.
 */
export function createGatherer<Item, Answer>(
  lanes: number,
  send: (batch: readonly Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
): (item: Item) => Promise<Answer> {
  let waiting: Entry<Item, Answer>[] = []
  let underWay = 0

  async function next(): Promise<void> {
    const batch = waiting.slice(0, largestBatch)
    waiting = waiting.slice(largestBatch)
    underWay += 1
    try {
      const answers = await send(batch.map(({ item }) => item))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const answer = answers[index]
        if (answer === undefined) reject(new Error('a batch left one of its calls without an answer'))
        else resolve(answer)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    underWay -= 1
    if (waiting.length > 0) void next()
  }

  return item =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (underWay < lanes) void next()
    })
}

/** Bounds how long a transaction takes, and with it how long those in it wait for each other. */
const largestBatch = 100

interface Entry<Item, Answer> {
  readonly item: Item
  resolve(answer: Answer | Promise<Answer>): void
  reject(error: unknown): void
}
