import { type Clock, sleep } from '../clock.ts'
import type { Verdict } from '../domain/change.ts'
import type { OperationIntent } from '../domain/intent.ts'
import type { Operation } from '../domain/operation.ts'
import { lateBy, timeToBegin } from '../domain/queue-time.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { Reads } from '../reads.ts'
import { sayDuration } from '../shape/duration.ts'

export interface QueueOptions {
  readonly store: Pick<Reads, 'backlog'>
  readonly clock: Clock
  /** Operations that this process runs at a time. */
  readonly concurrency: number
  readonly pollInterval: number
  /** Aborted when the process stops: nobody is kept waiting. */
  readonly stopping: AbortSignal
}

/** What is to be accepted: an action that asks for new work. */
export interface Wanted extends Pick<OperationIntent, 'operationId' | 'serviceId' | 'timeout'> {
  readonly action: Operation['action']
}

type Check = <Answer>(verdict: Verdict<Answer>) => Verdict<Answer>

/** A look at the ledger is good for so long; what this process accepts and begins meanwhile, it knows. */
const goodFor = 1_000
/** More are not counted: such a queue is refused only where even so many are too many. */
const most = 50_000
const longestPause = 3600
/** Who ran nothing for so long does not know how long it takes now. */
const forgetAfter = 600_000

/**
 * What waits for a worker, over all replicas, and how long that takes. New work that could not begin in time is refused before
 * anything of it is written; deletions are not, since they are what makes room.
 *
 * Nobody is asked while a slot is free. Else the ledger is looked at, about once a second however many requests there are.
 */
export class Queue {
  readonly #options: QueueOptions
  /** Since when each operation has its slot. */
  readonly #running = new Map<symbol, number>()
  /** Since when slots are empty though something waits: a process with too much to do fills them late. */
  #empty: number[] = []
  /** How long an operation has its slot: by service and action, and over all of them with the time that it was empty before. */
  readonly #usual = new Map<string, number>()
  /** Due and not begun, as of the last look, with what has changed here since. Not below minus `#entering`. */
  #ahead = 0
  /** Decided here, and not written yet. */
  #entering = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined
  /** For how long the first of those that are due had been so, at the last look. */
  #oldest = 0
  #allSlots: number
  #endedAt = 0
  /** When something last began or ended, or began to wait. */
  #movedAt = 0

  constructor(options: QueueOptions) {
    this.#options = options
    this.#allSlots = options.concurrency
  }

  /** A worker has begun with a claimed operation. Answers how to say that it has its slot back. */
  begin({ serviceId, action }: Pick<Operation, 'serviceId' | 'action'>): () => void {
    const { clock } = this.#options
    const key = Symbol()
    const from = clock.now()
    this.#forgetOld(from)
    this.#running.set(key, from)
    this.#movedAt = from
    const free = (this.#waiting > 0 ? this.#empty.shift() : undefined) ?? from
    this.#ahead = Math.max(-this.#entering, this.#ahead - 1)
    return () => {
      this.#running.delete(key)
      this.#endedAt = clock.now()
      this.#movedAt = this.#endedAt
      this.#learn(kindOf(serviceId, action), this.#endedAt - from)
      this.#learn(allOfThem, this.#endedAt - free)
      this.#empty = this.#waiting > 0 ? [...this.#empty, this.#endedAt] : []
    }
  }

  /**
   * Runs `accept`, which passes what it has decided through `check`: that throws where new work would begin too late. What
   * repeats a request, or waits for a sweep first, is never refused.
   */
  async enter<Result>(wanted: Wanted, accept: (check: Check) => Promise<Result>): Promise<Result> {
    this.#forgetOld(this.#options.clock.now())
    if (!this.#hasFreeSlot()) await this.#lookAgain(goodFor)
    try {
      return await this.#tryToEnter(wanted, accept, refusal => (this.#isFull ? refusal : doubt))
    } catch (error) {
      if (error !== doubt) throw error
    }
    await this.#makeSure()
    return this.#tryToEnter(wanted, accept, refusal => (this.#isFull ? refusal : undefined))
  }

  async #tryToEnter<Result>(
    wanted: Wanted,
    accept: (check: Check) => Promise<Result>,
    judge: (refusal: Error) => Error | undefined,
  ): Promise<Result> {
    let entered = false
    try {
      const result = await accept(verdict => {
        const begun = verdict.change?.operations?.find(({ id }) => id === wanted.operationId)
        // A store may decide again after a conflict.
        if (entered || begun === undefined || begun.notBefore > begun.acceptedAt) return verdict
        const late = this.#lateBy(wanted)
        const refusal = late > 0 ? judge(this.#refusal(wanted, late)) : undefined
        if (refusal !== undefined) throw refusal
        entered = true
        if (this.#waiting === 0) this.#movedAt = this.#options.clock.now()
        this.#entering += 1
        return verdict
      })
      if (entered) this.#ahead += 1
      return result
    } finally {
      if (entered) this.#entering -= 1
    }
  }

  #forgetOld(now: number): void {
    if (this.#running.size === 0 && now - this.#endedAt > forgetAfter) this.#usual.clear()
  }

  /** Looks when an idle replica would have taken what is due. Where nothing waits there is nothing to see. */
  async #makeSure(): Promise<void> {
    await this.#lookAgain(goodFor)
    const { clock, stopping } = this.#options
    const early = this.#patience - this.#oldest
    if (early <= 0 || this.#waiting === 0) return
    await sleep(clock, early, stopping)
    await this.#lookAgain(early / 2)
  }

  async #lookAgain(age: number): Promise<void> {
    if (this.#options.clock.now() - this.#lookedAt < age) return
    this.#looking ??= this.#readBacklog().finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  async #readBacklog(): Promise<void> {
    const { store, clock, concurrency } = this.#options
    const { due, dueSince, running, now } = await store.backlog(most)
    this.#lookedAt = clock.now()
    this.#ahead = due
    this.#oldest = dueSince === undefined ? 0 : now - dueSince
    this.#allSlots = Math.max(concurrency, running, this.#isFull ? 0 : this.#allSlots)
  }

  /** How long it takes until a replica that is idle finds what is due. */
  get #patience(): number {
    return Math.min(this.#options.pollInterval, goodFor)
  }

  /** What was due for so long at the last look, nobody had a slot for. (Two clocks: not to the last millisecond.) */
  get #isFull(): boolean {
    const isRecent = this.#options.clock.now() - this.#lookedAt <= goodFor
    return isRecent && this.#oldest >= this.#patience * 0.9
  }

  get #waiting(): number {
    return this.#ahead + this.#entering
  }

  #hasFreeSlot(): boolean {
    return this.#waiting + this.#running.size < this.#options.concurrency
  }

  #load() {
    const { clock, concurrency } = this.#options
    const now = clock.now()
    return {
      ahead: this.#waiting,
      slots: concurrency,
      allSlots: this.#allSlots,
      ages: [...this.#running.values()].map(from => now - from),
      usual: this.#usual.get(allOfThem),
      still: now - this.#movedAt,
    }
  }

  #lateBy({ serviceId, action, timeout }: Wanted): number {
    return lateBy(this.#load(), { limit: timeout, run: this.#usual.get(kindOf(serviceId, action)) ?? 0 })
  }

  #refusal({ action, timeout }: Wanted, late: number): Error {
    const [wait, limit] = [timeToBegin(this.#load()), timeout].map(sayDuration)
    return new BrokerError(
      'QueueTooLong',
      `The ${action} would wait about ${wait} in the queue, and may take ${limit} in all. Repeat it later.`,
      { retryAfter: Math.min(longestPause, Math.ceil(late / 1000)) },
    )
  }

  /** The mean of the last ones, more or less. */
  #learn(name: string, time: number): void {
    const before = this.#usual.get(name) ?? time
    this.#usual.set(name, before + (time - before) / 8)
  }
}

const allOfThem = ''
const doubt = new Error('the queue may be too long')

function kindOf(serviceId: string, action: string): string {
  return `${action} ${serviceId}`
}
