import type { Clock } from '../clock.ts'
import type { Lease, Ledger } from '../ledger.ts'
import { AbortedError, RunEnded } from './errors.ts'

/** Why a run's signal was aborted before the run was over. */
export type Abortion = 'lost' | 'deadline' | 'stopping'

const reasons: Readonly<Record<Abortion, string>> = {
  lost: 'the operation was superseded, or another process runs it now',
  deadline: 'the operation is out of time',
  stopping: 'the process stops',
}

/**
 * A lease as its holder sees it. The end is measured by the holder's own clock from before the claim was sent, so it is
 * never later than the store's; the signal is aborted a tenth before it, so that calls end while the lease still stands.
 */
export class HeldLease {
  readonly lease: Lease
  /** When the lease was claimed, by the store's clock. */
  readonly startedAt: number
  readonly #store: Ledger
  readonly #clock: Clock
  readonly #leaseTime: number
  readonly #storeOffset: number
  readonly #controller = new AbortController()
  #until: number
  #cancelTimer: () => void
  #isSure = true
  #why: Abortion | undefined

  constructor(options: {
    readonly lease: Lease
    readonly store: Ledger
    readonly clock: Clock
    readonly leaseTime: number
    /** The local time just before the claim was sent, and the store's time in its answer. */
    readonly sentAt: number
    readonly storeNow: number
  }) {
    this.lease = options.lease
    this.startedAt = options.storeNow
    this.#store = options.store
    this.#clock = options.clock
    this.#leaseTime = options.leaseTime
    this.#storeOffset = options.storeNow - options.sentAt
    this.#until = options.sentAt + options.leaseTime
    this.#cancelTimer = this.#watch()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get why(): Abortion | undefined {
    return this.#why
  }

  /** The store's clock, as well as it is known here: for back-off and budgets, never for a lease. */
  storeNow(): number {
    return this.#clock.now() + this.#storeOffset
  }

  /** The store has extended the lease in answer to a request sent at `sentAt`. */
  renewed(sentAt: number): void {
    this.#until = Math.max(this.#until, sentAt + this.#leaseTime)
    this.#isSure = true
    this.#cancelTimer()
    this.#cancelTimer = this.#watch()
  }

  /** The store did not answer somebody: the next call waits until it has answered. */
  doubt(): void {
    this.#isSure = false
  }

  /** A call of this length fits into the lease, extended first where it must be. */
  async ensure(callTime: number): Promise<void> {
    if (this.signal.aborted) throw new RunEnded()
    if (this.#isSure && this.#until - this.#clock.now() >= Math.min(callTime, this.#leaseTime * 0.6)) return
    const sentAt = this.#clock.now()
    const held = await this.#store.renew([this.lease], this.#leaseTime)
    if (held.length === 0) {
      this.lose()
      throw new RunEnded()
    }
    this.renewed(sentAt)
  }

  lose(): void {
    this.abort('lost')
  }

  abort(why: Abortion): void {
    if (this.#why !== undefined) return
    this.#why = why
    this.#cancelTimer()
    this.#controller.abort(new AbortedError(reasons[why]))
  }

  /** The run is over: no timer is left, and whatever its code still does is told to stop. */
  end(): void {
    this.#cancelTimer()
    this.#controller.abort(new AbortedError('this run of the action is over'))
  }

  #watch(): () => void {
    const left = this.#until - this.#leaseTime * 0.1 - this.#clock.now()
    return this.#clock.after(Math.max(0, left), () => this.lose())
  }
}
