import { sleep } from '../../clock.ts'
import { type Batch, type BatchOutcome, isWorkedOn, leadsToSuccess } from '../../domain/batch.ts'
import { isActive } from '../../domain/operation.ts'
import type { ChoreRun } from '../../engine/chore-run.ts'
import { count } from '../../shape/count.ts'
import { NoteConflictError } from '../../store.ts'
import type { BrokerContext } from '../context.ts'
import { actOnItem } from './batch-item.ts'
import { activeBatches, changedBatch, findBatch, type PlannedItem, readItems, readOutcomes } from './batch-notes.ts'

/** How often somebody looks for batches that have come, and at what a canary has begun. */
const lookEvery = 1_000

/**
 * Works on all batches that have begun, side by side, until none is left. It is a chore, so one replica does it; when that dies,
 * another takes the chore over and goes on with the items that have no outcome.
 */
export async function runBatches(broker: BrokerContext, run: ChoreRun): Promise<string | undefined> {
  const running = new Map<string, Promise<void>>()
  const failures: unknown[] = []
  let ended = 0
  for (;;) {
    run.signal.throwIfAborted()
    for (const id of await activeBatches(broker.store)) {
      if (running.has(id)) continue
      const work = runBatch(broker, id, run).then(
        () => {
          ended += 1
        },
        error => void failures.push(error),
      )
      running.set(
        id,
        work.finally(() => running.delete(id)),
      )
    }
    if (running.size === 0 || failures.length > 0) break
    await Promise.race([...running.values(), sleep(broker.clock, lookEvery, run.signal)])
  }
  await Promise.all(running.values())
  if (failures.length > 0) throw failures[0]
  return ended === 0 ? undefined : `ended ${ended} ${ended === 1 ? 'batch' : 'batches'}`
}

async function runBatch(broker: BrokerContext, id: string, run: ChoreRun): Promise<void> {
  const { store } = broker
  const { batch } = await findBatch(store, id)
  if (!isWorkedOn(batch)) return
  const items = await readItems(store, id)
  const before = await readOutcomes(store, id)
  const work = new BatchWork(broker, batch, run)
  for (const [place, outcome] of before) work.count(outcome, items[place])
  const act = async (place: number) => {
    const known = before.get(place)
    if (known !== undefined) return known
    const outcome = await actOnItem(broker, { batch, id: items[place]?.id ?? '', place })
    work.count(outcome, items[place])
    return outcome
  }
  let next = 0
  for (let begun = 0; begun < batch.canary && next < items.length; next += 1) {
    if (await work.isStopped()) break
    const outcome = await act(next)
    if (outcome.outcome === 'done') begun += 1
    await work.await(outcome)
  }
  const worker = async () => {
    while (next < items.length) {
      const place = next
      next += 1
      if (before.has(place)) continue
      if (await work.isStopped()) return
      await act(place)
    }
  }
  await Promise.all(Array.from({ length: batch.concurrency }, worker))
  await end(broker, id, work.why)
}

/** What is known of a batch while it is worked on: whether to go on. */
class BatchWork {
  readonly #broker: BrokerContext
  readonly #batch: Batch
  readonly #run: ChoreRun
  #failures = 0
  /** Why no other item is begun. */
  why: string | undefined

  constructor(broker: BrokerContext, batch: Batch, run: ChoreRun) {
    this.#broker = broker
    this.#batch = batch
    this.#run = run
  }

  /** What the dry run has refused is no surprise: nobody stops because of it. */
  count({ outcome }: BatchOutcome, item: PlannedItem | undefined): void {
    if (outcome === 'done' || item?.refused === true) return
    this.#failures += 1
    const { stopAfterFailures = Number.POSITIVE_INFINITY } = this.#batch
    if (this.#failures >= stopAfterFailures) this.why ??= `${count(this.#failures, 'item')} failed.`
  }

  /** Asks the ledger, too: an operator may be talking to another replica. */
  async isStopped(): Promise<boolean> {
    this.#run.signal.throwIfAborted()
    if (this.why !== undefined) return true
    const { batch } = await findBatch(this.#broker.store, this.#batch.id)
    if (batch.state === 'stopping') this.why ??= batch.why ?? 'It was stopped.'
    return this.why !== undefined
  }

  /** A canary: what it has begun has to end well before anything else is begun. One that was refused has begun nothing. */
  async await({ id, operation }: BatchOutcome): Promise<void> {
    if (operation === undefined || !leadsToSuccess(this.#batch.action)) return
    const { store, clock } = this.#broker
    while (!(await this.isStopped())) {
      const row = await store.operation(operation)
      // An observation goes with its end.
      if (row === undefined || row.state === 'succeeded') return
      const isOpen: boolean = isActive(row)
      if (!isOpen) this.why ??= `The canary ${id} has ${row.state}: ${row.description ?? ''}`
      else await sleep(clock, lookEvery, this.#run.signal)
    }
  }
}

async function end({ store, storeNow }: BrokerContext, id: string, why: string | undefined): Promise<void> {
  for (;;) {
    const known = await findBatch(store, id)
    if (!isWorkedOn(known.batch)) return
    const state = why === undefined ? 'done' : 'stopped'
    try {
      await store.writeNotes(changedBatch(known, { state, why, finishedAt: storeNow() }))
      return
    } catch (error) {
      // It was told to stop at this moment, or somebody else has ended it.
      if (!(error instanceof NoteConflictError)) throw error
    }
  }
}
