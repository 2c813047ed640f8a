import { sleep } from '../clock.ts'
import { isLeftOut, type LeftOut } from '../domain/left-out.ts'
import { backOff } from '../domain/retry.ts'
import type { Claim, Ledger, Taker } from '../ledger.ts'
import { toError } from '../observer.ts'
import type { Store, WakeUpSource } from '../store.ts'
import { watchUnhandled } from './author-code.ts'
import { HeldLease, type HolderOptions } from './held-lease.ts'
import { attemptFields } from './operation-fields.ts'
import { createOutage, type Outage } from './outage.ts'
import type { Queue } from './queue.ts'
import { type RunContext, runOperation } from './run-operation.ts'
import type { Shares } from './shares.ts'

export interface WorkerOptions extends RunContext, HolderOptions {
  readonly store: Ledger & WakeUpSource & Pick<Store, 'name'>
  /** Operations run at the same time. */
  readonly concurrency: number
  /** The longest time between two looks at the ledger. */
  readonly pollInterval: number
  /** Told what has a slot. */
  readonly queue: Pick<Queue, 'begin'>
  /** Who may have how many of the places. */
  readonly shares: Shares
}

/** A place for one operation, kept while that is being accepted. One of the two is called when it is known how that went. */
export interface Place extends Taker {
  /** It was accepted: runs it, if the ledger has leased it to this worker. */
  begin(): void
  /** It was not, or nobody knows. A lease that the ledger may have given runs out. */
  giveBack(): void
}

/**
 * Claims due operations and runs them, until it is stopped. It keeps no list of pending work: what it forgets in a crash,
 * the ledger still has.
 */
export class Worker {
  readonly #options: WorkerOptions
  readonly #outage: Outage
  readonly #running = new Map<HeldLease, Promise<void>>()
  readonly #stopping = new AbortController()
  #poked = false
  /** How many of those that run have only their last write before them: they need no place any more. */
  #leaving = 0
  /** Places that are kept for what is being accepted. */
  #kept = 0
  /** Operations that a look which is under way may bring. */
  #asked = 0
  /** Whether something may be due that the last look at the ledger did not bring. */
  #mayBeMore = true
  /** What that look left out. */
  #leftOut: LeftOut | undefined
  #wake: () => void = () => {}
  #refusals = 0
  #storeOffset = 0
  #loop: Promise<void> | undefined
  #stopListening: () => void = () => {}
  #stopWatching: () => void = () => {}
  #cancelRenewal: () => void = () => {}

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#outage = options.outage ?? createOutage(options.store.name, options.observer, options.clock)
  }

  start(): void {
    this.#stopListening = this.#options.store.onWakeUp(wakeUp => {
      if (wakeUp.type === 'work') this.#poke()
    })
    this.#stopWatching = watchUnhandled(error => this.#options.observer['process.unhandled']?.({ error }))
    this.#scheduleRenewal()
    this.#loop = this.#claimUntilStopped()
  }

  /** Stops claiming, gives running operations `grace` to end, then hands their leases back. */
  async stop(grace: number): Promise<void> {
    this.#stopping.abort()
    this.#poke()
    this.#stopListening()
    await this.#loop
    if (grace > 0) {
      const idle = Promise.allSettled(this.#running.values())
      const isIdle = new AbortController()
      await Promise.race([idle, sleep(this.#options.clock, grace, isIdle.signal)])
      isIdle.abort()
    }
    for (const held of this.#running.keys()) held.abort('stopping')
    await Promise.allSettled(this.#running.values())
    this.#cancelRenewal()
    this.#stopWatching()
    this.#stopWatching = () => {}
  }

  /** The store's clock, as of the last look at the ledger; until there was one, our own. */
  storeNow(): number {
    return this.#options.clock.now() + this.#storeOffset
  }

  /** Operations that run here, each under a lease, and places in all; one that is kept for what is being accepted is used. */
  get load(): { readonly slots: number; readonly used: number; readonly leases: number } {
    const { concurrency } = this.#options
    return { slots: concurrency, used: concurrency - this.#free(), leases: this.#running.size }
  }

  /** None where all are taken, or where others may have waited longer. It is for those alone who may have one more. */
  offerPlace(): Place | undefined {
    const { owner, leaseTime, clock, shares } = this.#options
    if (this.#stopping.signal.aborted || this.#poked || this.#mayBeMore || this.#free() <= 0) return undefined
    this.#kept += 1
    const sentAt = clock.now()
    let begin: (() => void) | undefined
    let leave = () => {}
    return {
      owner,
      leaseTime,
      wants: operation => {
        leave()
        leave = () => {}
        // The place that is kept is the one that it would have.
        if (isLeftOut(operation, this.#leftOut) || !shares.hasRoom(operation, this.#free() + 1, this.#asked))
          return false
        leave = shares.enter(operation)
        return true
      },
      taken: (claim, now) => {
        begin = () => this.#beginTaken(claim, sentAt, now)
      },
      begin: () => {
        leave()
        begin?.()
        this.#release()
      },
      giveBack: () => {
        leave()
        this.#release()
      },
    }
  }

  #beginTaken(claim: Claim, sentAt: number, storeNow: number): void {
    const { id, fence } = claim.operation
    if (!this.#stopping.signal.aborted) this.#begin(claim, sentAt, storeNow)
    // Another replica need not wait for the end of the lease. Where the ledger does not answer, it does.
    else this.#options.store.handBack({ operationId: id, fence }).catch(() => {})
  }

  #release(): void {
    this.#kept -= 1
    this.#pokeForMore()
  }

  /** A place is free: that matters to what waits for one, and to those who may have one more now. */
  #pokeForMore(): void {
    const leftOut = this.#leftOut
    if (this.#mayBeMore || (leftOut !== undefined && this.#options.shares.hasRoomAgain(leftOut, this.#free())))
      this.#poke()
  }

  /** Of those that leave, at most as many as there are places are not counted: a ledger that is slow to write fills no process. */
  #free(): number {
    const { concurrency } = this.#options
    return concurrency - this.#running.size + Math.min(this.#leaving, concurrency) - this.#kept
  }

  async #claimUntilStopped(): Promise<void> {
    const { pollInterval } = this.#options
    while (!this.#stopping.signal.aborted) {
      this.#poked = false
      this.#mayBeMore = true
      const free = this.#free()
      const pause = free > 0 ? await this.#claim(free) : pollInterval
      if (!this.#poked) await this.#sleep(pause)
    }
  }

  /** Claims what is due and answers how long there is nothing more to do. */
  async #claim(free: number): Promise<number> {
    const { store, clock, owner, leaseTime, pollInterval, shares } = this.#options
    const sentAt = clock.now()
    const { most, leftOut } = shares.nextClaim(free)
    this.#asked = most
    try {
      const { claims, nextAt, now } = await store.claim(owner, most, leaseTime, leftOut)
      this.#refusals = 0
      this.#storeOffset = now - sentAt
      this.#outage.end('claim')
      for (const claim of claims) this.#begin(claim, sentAt, now)
      if (claims.length === most) {
        // Fewer than there are places, so that nobody gets more than its share: then who is next is looked at again.
        if (most < free) this.#poked = true
        return pollInterval
      }
      this.#mayBeMore = false
      this.#leftOut = leftOut
      return nextAt === undefined ? pollInterval : Math.min(pollInterval, Math.max(nextAt - now, 1))
    } catch (error) {
      this.#outage.begin('claim', error, sentAt)
      this.#refusals += 1
      return this.#pause()
    } finally {
      this.#asked = 0
    }
  }

  /** A store in trouble is asked ever less often, but as often as a lease would have to be renewed. */
  #pause(): number {
    const { pollInterval, leaseTime, random } = this.#options
    const pause = { initial: pollInterval, factor: 2, max: Math.max(pollInterval, leaseTime / 3) }
    return Math.max(pollInterval, backOff(pause, this.#refusals, random()))
  }

  #begin(claim: Claim, sentAt: number, storeNow: number): void {
    const { store, clock, leaseTime, isSure } = this.#options
    const lease = { operationId: claim.operation.id, fence: claim.operation.fence }
    const held = new HeldLease({
      lease,
      clock,
      leaseTime,
      isSure,
      sentAt,
      storeNow,
      lost: 'the operation was superseded, or another process runs it now',
      renew: async () => (await store.renew([lease], leaseTime)).length > 0,
    })
    this.#running.set(held, this.#run(claim, held))
  }

  async #run(claim: Claim, held: HeldLease): Promise<void> {
    const giveBack = this.#options.queue.begin(claim.operation)
    const leave = this.#options.shares.enter(claim.operation)
    let hasPlace = true
    const leavePlace = () => {
      if (!hasPlace) return
      hasPlace = false
      this.#leaving += 1
      giveBack()
      leave()
      // One look for all that end in the same turn: with a store that gathers writes, it is in one transaction with their ends.
      setImmediate(() => this.#pokeForMore())
    }
    try {
      await runOperation(claim, held, this.#options, leavePlace)
    } catch (error) {
      // The ledger could not be written: the lease runs out and the operation goes on from its last checkpoint.
      const { observer } = this.#options
      observer['operation.interrupted']?.({ ...attemptFields(claim, held), error: toError(error) })
    }
    held.end()
    leavePlace()
    this.#leaving -= 1
    this.#running.delete(held)
    this.#pokeForMore()
  }

  /** There may be work: the ledger is looked at now, or once more after the look that is under way. */
  #poke(): void {
    this.#poked = true
    this.#wake()
  }

  /** Until the next poke. */
  #sleep(ms: number): Promise<void> {
    return new Promise(resolve => {
      const cancel = this.#options.clock.after(ms, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }

  #scheduleRenewal(pause = this.#options.leaseTime / 3): void {
    this.#cancelRenewal = this.#options.clock.after(pause, () => {
      void this.#renew().then(answered => {
        if (this.#stopping.signal.aborted && this.#running.size === 0) return
        // What was not renewed is tried again while the leases still stand.
        this.#scheduleRenewal(answered ? undefined : this.#options.leaseTime / 10)
      })
    })
  }

  async #renew(): Promise<boolean> {
    const { store, clock, leaseTime } = this.#options
    const holders = [...this.#running.keys()]
    if (holders.length === 0) {
      this.#outage.end('renew')
      return true
    }
    const sentAt = clock.now()
    try {
      const leases = holders.map(held => held.lease)
      const kept = await store.renew(leases, leaseTime)
      const fences = new Set(kept.map(lease => lease.fence))
      for (const held of holders) {
        if (fences.has(held.lease.fence)) held.renewed(sentAt)
        else if (this.#running.has(held)) held.abort('lost')
      }
      this.#outage.end('renew')
      return true
    } catch (error) {
      this.#outage.begin('renew', error, sentAt)
      for (const held of holders) held.doubt()
      return false
    }
  }
}
