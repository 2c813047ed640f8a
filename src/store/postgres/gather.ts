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
 * turns, a single one and all others at worst, and each would wait for two syncs instead of one. Many callers are split, into equal
 * parts, one more than there are lanes: while the server works on one, this process works on the answers of the other. So the next
 * batch is sent before answers are given: what callers do with them would keep it from the socket until all have done it.
 */
export function createGatherer<Item, Answer>({ send, alone, lanes }: Gathering<Item, Answer>) {
  const waiting: Entry<Item, Answer>[] = []
  let underWay = 0
  /** Calls whose batch is under way, or has its answers, which were not given yet. */
  let unanswered = 0
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
    const equal = Math.ceil((waiting.length + unanswered) / (lanes() + 1))
    const batch = waiting.splice(0, Math.min(largestBatch, Math.max(largeBatch, equal)))
    underWay += 1
    unanswered += batch.length
    const give = await sendBatch(batch)
    underWay -= 1
    const others = underWay
    start()
    if (underWay > others) await new Promise(resolve => setImmediate(resolve))
    unanswered -= batch.length
    give()
  }

  /** Answers what gives its callers the answers. */
  async function sendBatch(batch: readonly Entry<Item, Answer>[]): Promise<() => void> {
    try {
      const answers = await send(batch.map(({ item }) => item))
      return () => {
        for (const [index, { item, resolve, reject }] of batch.entries()) {
          const answer = answers[index] === undefined ? alone?.(item) : answers[index]
          if (answer === undefined) reject(new Error('a batch left one of its calls without an answer'))
          else resolve(answer)
        }
      }
    } catch (error) {
      // A batch that may have been done is never repeated. One that was refused is rolled back: each is told its own answer.
      const refused = alone !== undefined && !(error instanceof StoreUnavailableError)
      return () => {
        for (const { item, resolve, reject } of batch) {
          if (refused) resolve(alone(item))
          else reject(error)
        }
      }
    }
  }

  return (item: Item) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      start()
    })
}

/** About as many as this process works on while a statement waits for the disk: fewer are not split, and wait for each other. */
const largeBatch = 16

/** Bounds how long a transaction takes, and with it how long those in it wait for each other. */
const largestBatch = 100

interface Entry<Item, Answer> {
  readonly item: Item
  resolve(answer: Answer | Promise<Answer>): void
  reject(error: unknown): void
}
