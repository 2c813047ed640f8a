import type { Verdict } from '../domain/change.ts'
import type { OperationIntent } from '../domain/intent.ts'
import type { LeftOut, Sharer } from '../domain/left-out.ts'
import type { Operation } from '../domain/operation.ts'
import { guess, lateBy, timeToBegin } from '../domain/queue-time.ts'
import { BrokerError } from '../protocol/errors.ts'
import { sayDuration } from '../shape/duration.ts'
import { Lane, type LaneOptions, meanWith, type Usual } from './queue-lane.ts'

export interface QueueOptions extends LaneOptions {
  /** Whose operations one like this does not wait for, where so many places are free: they have all that they may have. */
  passedBy?(wanted: Sharer, free: number): LeftOut | undefined
}

/** What is to be accepted: an action that asks for new work. */
export interface Wanted extends Pick<OperationIntent, 'operationId' | 'serviceId' | 'platform' | 'timeout'> {
  readonly action: Operation['action']
}

type Check = <Answer>(verdict: Verdict<Answer>) => Verdict<Answer>

const longestPause = 3600
/** Who ran nothing for so long does not know how long it takes now. */
const forgetAfter = 600_000
/** Besides the one of all; the one that was asked about longest ago is forgotten. */
const mostLanes = 16

/**
 * What waits for a worker, over all replicas, and how long that takes. New work that could not begin in time is refused before
 * anything of it is written; deletions are not, since they are what makes room.
 *
 * Nobody is asked while a slot is free. Else the ledger is looked at, about once a second however many requests there are. Whose
 * services have all the places that they may have are passed by others: each lane knows what waits but for some of them.
 */
export class Queue {
  readonly #options: QueueOptions
  /** Since when each operation has its slot. */
  readonly #running = new Map<symbol, Sharer & { readonly kind: string; readonly from: number }>()
  /** How long an operation has its slot, by service and action. */
  readonly #times = new Map<string, number>()
  readonly #usual: Usual = {
    known: kind => this.#times.get(kind),
    estimate: kind => this.#times.get(kind) ?? guess(this.#youngest(kind)),
  }
  /** By what they leave out; the first one leaves nothing out. */
  readonly #lanes = new Map<string, Lane>()
  #endedAt = 0

  constructor(options: QueueOptions) {
    this.#options = options
    this.#lanes.set('', new Lane(options, this.#running))
  }

  /** A worker has begun with a claimed operation. Answers how to say that it has its slot back. */
  begin(operation: Sharer & Pick<Operation, 'action'>): () => void {
    const { clock } = this.#options
    const key = Symbol()
    const from = clock.now()
    this.#forgetOld(from)
    const { serviceId, platform } = operation
    const kind = kindOf(operation)
    this.#running.set(key, { serviceId, platform, kind, from })
    const lanes = this.#lanesOf(operation).map(lane => ({ lane, free: lane.begin(kind, from) }))
    return () => {
      this.#running.delete(key)
      this.#endedAt = clock.now()
      this.#times.set(kind, meanWith(this.#times.get(kind), this.#endedAt - from))
      for (const { lane, free } of lanes) lane.end(from - free, this.#endedAt)
    }
  }

  /**
   * Runs `accept`, which passes what it has decided through `check`: that throws where new work would begin too late. What
   * repeats a request, or waits for a sweep first, is never refused.
   */
  async enter<Result>(wanted: Wanted, accept: (check: Check) => Promise<Result>): Promise<Result> {
    this.#forgetOld(this.#options.clock.now())
    const lane = this.#laneFor(wanted)
    if (!lane.hasFreeSlot()) await lane.lookAgain()
    const trying = { wanted, lane, accept }
    try {
      return await this.#tryToEnter(trying, refusal => (lane.isFull ? refusal : doubt))
    } catch (error) {
      if (error !== doubt) throw error
    }
    await lane.makeSure()
    // Where nothing waits, nobody knows whether a replica is idle.
    return this.#tryToEnter(trying, refusal => (lane.isWaiting ? refusal : undefined))
  }

  async #tryToEnter<Result>(
    { wanted, lane, accept }: Trying<Result>,
    judge: (refusal: Error) => Error | undefined,
  ): Promise<Result> {
    let entered: readonly ((isWritten: boolean) => void)[] | undefined
    let isWritten = false
    try {
      const result = await accept(verdict => {
        const begun = verdict.change?.operations?.find(({ id }) => id === wanted.operationId)
        // A store may decide again after a conflict.
        if (entered !== undefined || begun === undefined || begun.notBefore > begun.acceptedAt) return verdict
        const refusal = lane.hasFreeSlot() ? undefined : this.#refusal(wanted, lane)
        const thrown = refusal && judge(refusal)
        if (thrown !== undefined) throw thrown
        const kind = kindOf(wanted)
        entered = this.#lanesOf(wanted).map(each => each.enter(kind))
        return verdict
      })
      isWritten = true
      return result
    } finally {
      for (const end of entered ?? []) end(isWritten)
    }
  }

  #forgetOld(now: number): void {
    if (this.#running.size > 0 || now - this.#endedAt <= forgetAfter) return
    this.#times.clear()
    for (const lane of this.#lanes.values()) lane.forget()
  }

  #lanesOf(sharer: Sharer): readonly Lane[] {
    return [...this.#lanes.values()].filter(lane => lane.concerns(sharer))
  }

  /** Nearly always the one that leaves nothing out. */
  #laneFor(wanted: Wanted): Lane {
    const { concurrency, passedBy } = this.#options
    const leftOut = passedBy?.(wanted, concurrency - this.#running.size)
    const key = leftOut === undefined ? '' : JSON.stringify([leftOut.services, leftOut.platforms])
    const lane = this.#lanes.get(key) ?? new Lane(this.#options, this.#running, leftOut)
    if (leftOut !== undefined) this.#lanes.delete(key)
    this.#lanes.set(key, lane)
    const [, oldest] = this.#lanes.size > mostLanes ? this.#lanes.keys() : []
    if (oldest !== undefined) this.#lanes.delete(oldest)
    return lane
  }

  #refusal(wanted: Wanted, lane: Lane): Error | undefined {
    const { action, timeout } = wanted
    const kind = kindOf(wanted)
    const load = lane.load(kind, this.#usual)
    const late = lateBy(load, { limit: timeout, run: this.#usual.estimate(kind) })
    if (late <= 0) return undefined
    const [wait, limit] = [timeToBegin(load), timeout].map(sayDuration)
    return new BrokerError(
      'QueueTooLong',
      `The ${action} would wait about ${wait} in the queue, and may take ${limit} in all. Repeat it later.`,
      { retryAfter: Math.min(longestPause, Math.ceil(late / 1000)) },
    )
  }

  /** For how long all of a kind that run here have done so, at least. */
  #youngest(kind: string): number {
    const since = [...this.#running.values()].filter(each => each.kind === kind).map(({ from }) => from)
    return since.length === 0 ? 0 : this.#options.clock.now() - Math.max(...since)
  }
}

interface Trying<Result> {
  readonly wanted: Wanted
  readonly lane: Lane
  readonly accept: (check: Check) => Promise<Result>
}

const doubt = new Error('the queue may be too long')

function kindOf({ serviceId, action }: Pick<Wanted, 'serviceId' | 'action'>): string {
  return `${action} ${serviceId}`
}
