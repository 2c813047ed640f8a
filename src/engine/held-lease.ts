import type { Clock } from '../clock.ts'
import type { Lease } from '../ledger.ts'
import type { Observer } from '../observer.ts'
import { AbortedError, RunEnded } from './errors.ts'
import { type Abortable, LazyAbort } from './lazy-abort.ts'
import type { Outage } from './outage.ts'

/** What somebody needs who asks the ledger for leases. */
export interface HolderOptions {
  readonly clock: Clock
  readonly observer: Observer
  /** Names this process in the ledger. */
  readonly owner: string
  readonly leaseTime: number
  /** Whether nobody can have taken the leases over with this process's name; absent where it has no name. */
  readonly isSure?: () => boolean
  /** Shared with whoever else asks the same store, so that operators hear of it once. */
  readonly outage?: Outage
}

type Abortion = 'lost' | 'deadline' | 'stopping'

interface HeldLeaseOptions<Of> extends Pick<HolderOptions, 'clock' | 'leaseTime' | 'isSure'> {
  readonly lease: Of
  /** The local time just before the lease was asked for, and the store's time in its answer. */
  readonly sentAt: number
  readonly storeNow: number
  /** What it means that the lease is lost, for those who listen to the signal. */
  readonly lost: string
  /** Asks the store to extend the lease; false means lost. */
  renew(): Promise<boolean>
}

/** One for all runs: each of them ends with it, and an error of its own, with its stack, would cost more than the rest. */
const runOver = new AbortedError('this run of the action is over')

/**
 * A lease as its holder sees it. The end is measured by the holder's own clock from before the lease was asked for, so it is
 * never later than the store's; the signal is aborted a tenth before it, so that calls end while the lease still stands.
 */
export class HeldLease<Of = Lease> {
  readonly lease: Of
  /** When the lease was given, by the store's clock. */
  readonly startedAt: number
  readonly #options: HeldLeaseOptions<Of>
  readonly #ending = new LazyAbort()
  /** Why the signal was aborted before the run was over; only `abort` sets it. */
  why: Abortion | undefined
  #until: number
  #cancelTimer: () => void
  #isSure = true

  constructor(options: HeldLeaseOptions<Of>) {
    this.#options = options
    this.lease = options.lease
    this.startedAt = options.storeNow
    this.#until = options.sentAt + options.leaseTime
    this.#cancelTimer = this.#watch()
  }

  /** Aborted when the lease is lost, when there is no more time, when the process stops, and at the end of the run. */
  get ending(): Abortable {
    return this.#ending
  }

  /** The same, for code that is not ours. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** The store's clock, as well as it is known here: for back-off and budgets, never for a lease. */
  storeNow(): number {
    const { clock, storeNow, sentAt } = this.#options
    return clock.now() + storeNow - sentAt
  }

  /** The store has extended the lease in answer to a request sent at `sentAt`. */
  renewed(sentAt: number): void {
    if (this.#ending.aborted) return
    this.#until = Math.max(this.#until, sentAt + this.#options.leaseTime)
    this.#isSure = true
    this.#cancelTimer()
    this.#cancelTimer = this.#watch()
  }

  /** The store did not answer somebody: the next call waits until it has answered. */
  doubt(): void {
    this.#isSure = false
  }

  /** Whether a call of this length fits into the lease as it stands. Otherwise it has to be renewed first. */
  fits(callTime: number): boolean {
    if (this.#ending.aborted) throw new RunEnded()
    const { clock, leaseTime, isSure } = this.#options
    return this.#isSure && isSure?.() !== false && this.#until - clock.now() >= Math.min(callTime, leaseTime * 0.6)
  }

  async renew(): Promise<boolean> {
    const sentAt = this.#options.clock.now()
    const held = await this.#options.renew()
    if (held) this.renewed(sentAt)
    else this.abort('lost')
    return held
  }

  abort(why: Abortion): void {
    if (this.why !== undefined) return
    this.why = why
    const reasons = {
      lost: this.#options.lost,
      deadline: 'the operation is out of time',
      stopping: 'the process stops',
    }
    this.#end(new AbortedError(reasons[why]))
  }

  /** The run is over: no timer is left, and whatever its code still does is told to stop. */
  end(): void {
    this.#end(runOver)
  }

  #end(reason: AbortedError): void {
    this.#cancelTimer()
    this.#ending.abort(reason)
  }

  #watch(): () => void {
    const { clock, leaseTime } = this.#options
    const left = this.#until - leaseTime * 0.1 - clock.now()
    return clock.after(Math.max(0, left), () => this.abort('lost'))
  }
}
