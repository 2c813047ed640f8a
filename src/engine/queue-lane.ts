import { type Clock, sleep } from '../clock.ts'
import { isLeftOut, type LeftOut, type Sharer } from '../domain/left-out.ts'
import type { QueueLoad } from '../domain/queue-time.ts'
import type { Reads } from '../reads.ts'

export interface LaneOptions {
  readonly store: Pick<Reads, 'backlog'>
  readonly clock: Clock
  /** Operations that this process runs at a time. */
  readonly concurrency: number
  readonly pollInterval: number
  /** Aborted when the process stops: nobody is kept waiting. */
  readonly stopping: AbortSignal
}

/** What runs here, and since when it has its slot. */
export type Running = ReadonlyMap<symbol, Sharer & { readonly from: number }>

/** A look at the ledger is good for so long; what this process accepts and begins meanwhile, it knows. */
const goodFor = 1_000
/** More are not counted: such a queue is refused only where even so many are too many. */
const most = 50_000

/** What waits for a worker, but for what is left out: that has slots of its own, and nobody waits for it. */
export class Lane {
  readonly #options: LaneOptions
  readonly #running: Running
  readonly #leftOut: LeftOut | undefined
  /** Since when slots are empty though something waits: a process with too much to do fills them late. */
  #empty: number[] = []
  /** How long an operation has its slot, with the time that it was empty before. */
  #usual: number | undefined
  /** Due and not begun, as of the last look, with what has changed here since. Not below minus `#entering`. */
  #ahead = 0
  /** Decided here, and not written yet. */
  #entering = 0
  /** Written here since the look that is under way began: it may have come too early for them. */
  #unseen = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined
  /** For how long the first of those that are due had been so, at the last look. */
  #oldest = 0
  #allSlots: number
  /** When something last began or ended, or began to wait. */
  #movedAt = 0

  constructor(options: LaneOptions, running: Running, leftOut?: LeftOut) {
    this.#options = options
    this.#running = running
    this.#leftOut = leftOut
    this.#allSlots = this.#slots
  }

  concerns(sharer: Sharer): boolean {
    return !isLeftOut(sharer, this.#leftOut)
  }

  /** Answers since when the slot was free. */
  begin(from: number): number {
    this.#movedAt = from
    const free = (this.#waiting > 0 ? this.#empty.shift() : undefined) ?? from
    this.#ahead = Math.max(-this.#entering, this.#ahead - 1)
    return free
  }

  end(free: number, now: number): void {
    this.#movedAt = now
    this.#usual = meanWith(this.#usual, now - free)
    this.#empty = this.#waiting > 0 ? [...this.#empty, now] : []
  }

  /** Something is decided, and about to be written. */
  enter(): void {
    if (this.#waiting === 0) this.#movedAt = this.#options.clock.now()
    this.#entering += 1
  }

  /** It is written, and waits. */
  wait(): void {
    this.#ahead += 1
    this.#unseen += 1
  }

  entered(): void {
    this.#entering -= 1
  }

  forget(): void {
    this.#usual = undefined
  }

  /** Looks when an idle replica would have taken what is due. Where nothing waits there is nothing to see. */
  async makeSure(): Promise<void> {
    await this.lookAgain()
    const { clock, stopping } = this.#options
    const early = this.#patience - this.#oldest
    if (early <= 0 || this.#waiting === 0) return
    await sleep(clock, early, stopping)
    await this.lookAgain(early / 2)
  }

  async lookAgain(age = goodFor): Promise<void> {
    if (this.#options.clock.now() - this.#lookedAt < age) return
    this.#looking ??= this.#readBacklog().finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  /** What was due for so long at the last look, nobody had a slot for. (Two clocks: not to the last millisecond.) */
  get isFull(): boolean {
    const isRecent = this.#options.clock.now() - this.#lookedAt <= goodFor
    return isRecent && this.#oldest >= this.#patience * 0.9
  }

  hasFreeSlot(): boolean {
    return this.#waiting + this.#taken < this.#slots
  }

  load(): QueueLoad {
    const now = this.#options.clock.now()
    return {
      ahead: this.#waiting,
      slots: this.#slots,
      allSlots: Math.max(this.#slots, this.#allSlots),
      ages: this.#since.map(from => now - from),
      usual: this.#usual,
      still: now - this.#movedAt,
    }
  }

  async #readBacklog(): Promise<void> {
    const { store, clock } = this.#options
    this.#unseen = 0
    const { due, dueSince, running, now } = await store.backlog(most, this.#leftOut)
    this.#lookedAt = clock.now()
    this.#ahead = due + this.#unseen
    this.#oldest = dueSince === undefined ? 0 : now - dueSince
    this.#allSlots = Math.max(this.#slots, running, this.isFull ? 0 : this.#allSlots)
  }

  /** How long it takes until a replica that is idle finds what is due. */
  get #patience(): number {
    return Math.min(this.#options.pollInterval, goodFor)
  }

  get #waiting(): number {
    return this.#ahead + this.#entering
  }

  /** Since when those that concern it have their slots. */
  get #since(): readonly number[] {
    return [...this.#running.values()].filter(each => this.concerns(each)).map(({ from }) => from)
  }

  get #taken(): number {
    return this.#leftOut === undefined ? this.#running.size : this.#since.length
  }

  /** Those that what is left out does not have. */
  get #slots(): number {
    return this.#options.concurrency - (this.#running.size - this.#taken)
  }
}

/** The mean of the last ones, more or less. */
export function meanWith(before: number | undefined, value: number): number {
  return before === undefined ? value : before + (value - before) / 8
}
