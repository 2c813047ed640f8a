import { sleep } from '../clock.ts'
import type { OperationSummary } from '../reads.ts'
import type { BrokerContext } from './context.ts'

/** What is told of a change. */
type Listener = (changed: readonly OperationSummary[], at: number) => void

const lookEvery = 2_000
/** However many wake-ups there are. */
const restAfterLook = 250
/** Of the active ones of a state, and of those that ended between two looks. The others are in the lists. */
const most = 500

/**
 * Which operations have changed, for pages that show many of them. One look at the ledger for all pages of a process, and
 * none where nobody listens; what other replicas do shows there as well.
 */
export class OperationChanges {
  readonly #broker: Pick<BrokerContext, 'store' | 'clock' | 'storeNow' | 'stopping'>
  readonly #listeners = new Set<Listener>()
  #known = new Map<string, string>()
  #looking: Promise<void> | undefined

  constructor(broker: Pick<BrokerContext, 'store' | 'clock' | 'storeNow' | 'stopping'>) {
    this.#broker = broker
  }

  /** Answers how to stop. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    this.#looking ??= this.#lookWhileHeard().finally(() => {
      this.#looking = undefined
    })
    return () => this.#listeners.delete(listener)
  }

  /** What has ended since a time, and what is active: for a page that was away. */
  async since(time: number): Promise<readonly OperationSummary[]> {
    const { store } = this.#broker
    const [ended, queued, running] = await Promise.all([
      store.listOperations({ by: 'finished', order: 'oldest', after: time, limit: most }),
      store.listOperations({ state: 'queued', limit: most }),
      store.listOperations({ state: 'running', limit: most }),
    ])
    return [...ended.items, ...queued.items, ...running.items]
  }

  async #lookWhileHeard(): Promise<void> {
    const { store, clock, storeNow, stopping } = this.#broker
    let woken = new AbortController()
    const stopListening = store.onWakeUp(({ type }) => {
      if (type !== 'catalog') woken.abort()
    })
    this.#known = new Map()
    let from = storeNow() - lookEvery
    let isFirst = true
    while (this.#listeners.size > 0 && !stopping.aborted) {
      const at = storeNow()
      // A store that does not answer is asked again.
      const found = await this.since(from).catch(() => undefined)
      if (found !== undefined) {
        const changed = this.#learn(found)
        // Two clocks, and transactions that end late: some is looked at twice, and told once.
        from = at - lookEvery
        if (changed.length > 0 && !isFirst) for (const listener of this.#listeners) listener(changed, at)
        isFirst = false
      }
      woken = new AbortController()
      await sleep(clock, restAfterLook, stopping)
      await sleep(clock, lookEvery - restAfterLook, AbortSignal.any([woken.signal, stopping]))
    }
    stopListening()
  }

  #learn(found: readonly OperationSummary[]): readonly OperationSummary[] {
    const versions = new Map(found.map(row => [row.id, JSON.stringify(row)]))
    const changed = found.filter(row => this.#known.get(row.id) !== versions.get(row.id))
    this.#known = versions
    return changed
  }
}
