import { type Clock, sleep } from '../clock.ts'
import { isLeftOut, type LeftOut, type Sharer } from '../domain/left-out.ts'
import type { QueueLoad } from '../domain/queue-time.ts'
import type { Reads } from '../reads.ts'
import { QueueMix } from './queue-mix.ts'

export interface LaneOptions {
  readonly store: Pick<Reads, 'backlog'>
  readonly clock: Clock
  /** Operations that this process runs at a time. */
  readonly concurrency: number
  /** Aborted when the process stops: nobody is kept waiting. */
  readonly stopping: AbortSignal
}

/** What runs here, of which kind it is, and since when it has its slot. */
export type Running = ReadonlyMap<symbol, Sharer & { readonly kind: string; readonly from: number }>

/** How long operations have their slot, as a rule. */
export interface Usual {
  /** Undefined until one of that kind has given its slot back. */
  known(kind: string): number | undefined
  estimate(kind: string): number
}

/** A look at the ledger is good for so long; what this process accepts and begins meanwhile, it knows. */
const goodFor = 1_000
/** How long it takes until a replica that is idle finds what is due. Two clocks, and timers: not to the last millisecond. */
const patience = 1_000
const slack = 100
/** More are not counted: such a queue is refused only where even so many are too many. */
const most = 50_000

/** What waits for a worker, but for what is left out: that has slots of its own, and nobody waits for it. */
export class Lane {
  readonly #options: LaneOptions
  readonly #running: Running
  readonly #leftOut: LeftOut | undefined
  /** Since when slots are empty though something waits: a process with too much to do fills them late. */
  #empty: number[] = []
  /** For how long a slot is empty before. */
  #gap: number | undefined
  /** What waits, as far as it was accepted here. */
  readonly #mix = new QueueMix()
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
  begin(kind: string, from: number): number {
    this.#movedAt = from
    const free = (this.#waiting > 0 ? this.#empty.shift() : undefined) ?? from
    this.#ahead = Math.max(-this.#entering, this.#ahead - 1)
    this.#mix.remove(kind)
    return free
  }

  /** What was begun has ended; its slot was empty for so long before. */
  end(gap: number, now: number): void {
    this.#movedAt = now
    this.#gap = meanWith(this.#gap, gap)
    this.#empty = this.#waiting > 0 ? [...this.#empty, now] : []
  }

  /** Something is decided, and about to be written. Answers how to say that it is, and waits, or that it is not. */
  enter(kind: string): (isWritten: boolean) => void {
    if (this.#waiting === 0) this.#movedAt = this.#options.clock.now()
    this.#entering += 1
    this.#mix.add(kind)
    return isWritten => {
      this.#entering -= 1
      if (isWritten) {
        this.#ahead += 1
        this.#unseen += 1
      } else this.#mix.remove(kind)
    }
  }

  forget(): void {
    this.#gap = undefined
  }

  /** Looks when an idle replica would have taken what is due. Where nothing waits there is nothing to see. */
  async makeSure(): Promise<void> {
    await this.lookAgain()
    const { clock, stopping } = this.#options
    const early = patience - this.#oldest
    if (early <= 0 || !this.isWaiting) return
    await sleep(clock, early, stopping)
    await this.lookAgain(slack)
  }

  async lookAgain(age = goodFor): Promise<void> {
    if (this.#options.clock.now() - this.#lookedAt < age) return
    this.#looking ??= this.#readBacklog().finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  /** What was due for so long at the last look, nobody had a slot for. */
  get isFull(): boolean {
    const isRecent = this.#options.clock.now() - this.#lookedAt <= goodFor
    return isRecent && this.#oldest >= patience - slack
  }

  get isWaiting(): boolean {
    return this.#waiting > 0
  }

  hasFreeSlot(): boolean {
    return this.#waiting + this.#taken < this.#slots
  }

  /** As one of this kind finds it. */
  load(kind: string, usual: Usual): QueueLoad {
    const now = this.#options.clock.now()
    const mean = this.#mix.mean(this.#waiting, kind, each => usual.estimate(each))
    return {
      ahead: this.#waiting,
      turn: mean + (this.#gap ?? 0),
      slots: this.#slots,
      allSlots: Math.max(this.#slots, this.#allSlots),
      running: this.#concerned.map(each => ({ age: now - each.from, usual: usual.known(each.kind) })),
      still: now - this.#movedAt,
    }
  }

  async #readBacklog(): Promise<void> {
    const { store, clock } = this.#options
    this.#unseen = 0
    const { due, dueSince, running, now } = await store.backlog(most, this.#leftOut)
    this.#lookedAt = clock.now()
    this.#ahead = due + this.#unseen
    this.#mix.shrinkTo(this.#waiting)
    this.#oldest = dueSince === undefined ? 0 : now - dueSince
    this.#allSlots = Math.max(this.#slots, running, this.isFull ? 0 : this.#allSlots)
  }

  get #waiting(): number {
    return this.#ahead + this.#entering
  }

  get #concerned() {
    return [...this.#running.values()].filter(each => this.concerns(each))
  }

  get #taken(): number {
    return this.#leftOut === undefined ? this.#running.size : this.#concerned.length
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
