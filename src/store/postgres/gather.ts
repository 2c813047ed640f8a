import { StoreUnavailableError } from '../../store.ts'

export interface Gathering<Item, Answer> {
  /** The answers in the order of the items; undefined for one that was not done. */
  send(batch: readonly Item[]): Promise<readonly (Answer | undefined)[]>
  /** One that was not done with its batch, or whose batch was rolled back, is done by itself. */
  alone?(item: Item): Promise<Answer>
  /** Batches under way at a time. */
  lanes(): number
}

/**
 * Lets many calls share one statement: what comes while as many batches as there are lanes are under way waits for the
 * next one, and they go together. Where nothing is under way a call waits for nobody but those that come in the same turn of the
 * event loop.
 *
 * Whoever gets an answer often calls again at once. A small batch waits for that: else callers would split into two that take
 * turns, a single one and all others at worst, and each would wait for two syncs instead of one. A large one does not: while the
 * server works on it, this process has the answers of the other to work on.
 */
export function createGatherer<Item, Answer>({ send, alone, lanes }: Gathering<Item, Answer>) {
  let waiting: Entry<Item, Answer>[] = []
  let underWay = 0
  let isStarting = false

  function start(): void {
    if (isStarting || waiting.length === 0 || underWay >= lanes()) return
    if (waiting.length >= largeBatch) return void next()
    isStarting = true
    setImmediate(() => {
      isStarting = false
      if (waiting.length > 0 && underWay < lanes()) void next()
    })
  }

  async function next(): Promise<void> {
    const batch = waiting.slice(0, largestBatch)
    waiting = waiting.slice(largestBatch)
    underWay += 1
    try {
      const answers = await send(batch.map(({ item }) => item))
      for (const [index, { item, resolve, reject }] of batch.entries()) {
        const answer = answers[index] === undefined ? alone?.(item) : answers[index]
        if (answer === undefined) reject(new Error('a batch left one of its calls without an answer'))
        else resolve(answer)
      }
    } catch (error) {
      // A batch that may have been done is never repeated. One that was refused is rolled back: each is told its own answer.
      const refused = alone !== undefined && !(error instanceof StoreUnavailableError)
      for (const { item, resolve, reject } of batch) {
        if (refused) resolve(alone(item))
        else reject(error)
      }
    }
    underWay -= 1
    start()
  }

  return (item: Item) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      start()
    })
}

/** About as many as this process works on while a statement waits for the disk. */
const largeBatch = 16

/** Bounds how long a transaction takes, and with it how long those in it wait for each other. */
const largestBatch = 100

interface Entry<Item, Answer> {
  readonly item: Item
  resolve(answer: Answer | Promise<Answer>): void
  reject(error: unknown): void
}
