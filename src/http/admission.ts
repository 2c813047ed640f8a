import type { Clock } from '../clock.ts'
import { BrokerError } from '../protocol/errors.ts'

/** What goes on in this process. */
export interface Load {
  /** Requests that are being served. Those that only wait for the end of their operation are not. */
  readonly serving: number
  /** The bytes of their bodies, as announced. */
  readonly bodyBytes: number
  /** How long a request takes now, or waits until it is looked at: the longer one, in milliseconds. */
  readonly latency: number
}

export interface Wanted {
  /** It asks for new work. Polls and deletions do not: a platform needs them to see an end, and to clean up. */
  readonly isNew: boolean
  readonly bodyBytes: number
}

export interface Limits {
  /** Requests for new work at a time; twice as many in all. */
  readonly most: number
  readonly mostBodyBytes: number
  /** From here on, the longer requests take, the fewer are served at once. In milliseconds. */
  readonly patience: number
}

/** A platform gives up after some ten seconds, and whoever asks for health after one. */
const usual: Limits = { most: 1_000, mostBodyBytes: 128 * 1024 * 1024, patience: 1_000 }
/** For what needs no credentials: anybody may use it up. How long an author's own route takes says nothing about the broker. */
export const openLimits: Limits = { most: 500, mostBodyBytes: 32 * 1024 * 1024, patience: Infinity }
/** So few are always served, however slow the machine is. */
const least = 32
const longestPause = 30

/** Half of the places are for polls, reads and deletions alone. */
export function hasRoom({ serving, bodyBytes, latency }: Load, wanted: Wanted, limits = usual): boolean {
  const { most, mostBodyBytes, patience } = limits
  const places = latency <= patience ? most : Math.max(least, (most * patience) / latency)
  if (serving >= (wanted.isNew ? places : 2 * places)) return false
  return bodyBytes === 0 || bodyBytes + wanted.bodyBytes <= mostBodyBytes
}

/** In whole seconds, for Retry-After. */
export function pauseUntilRoom({ latency }: Load): number {
  return Math.min(longestPause, 1 + Math.ceil(latency / 1000))
}

/** Takes requests, or refuses them before they cost a password check, a body or a call of the store. */
export class Admission implements Load {
  serving = 0
  bodyBytes = 0
  /** How long a request takes now. */
  time = 0
  /** How long a turn of the event loop takes, which is what a request waits for until it is looked at. */
  #lag = 0
  #probedAt = -Infinity
  readonly #clock: Clock
  readonly #limits: Limits

  constructor(clock: Clock, limits = usual) {
    this.#clock = clock
    this.#limits = limits
  }

  get latency(): number {
    return Math.max(this.time, this.#lag)
  }

  /** At the time `now`. */
  admit(wanted: Wanted, now: number): Visit {
    if (now - this.#probedAt >= probeInterval) this.#probe(now)
    if (!hasRoom(this, wanted, this.#limits))
      throw new BrokerError('Overloaded', 'The broker has more requests than it can answer in time. Repeat it later.', {
        retryAfter: pauseUntilRoom(this),
      })
    return new Visit(this, wanted.bodyBytes, now)
  }

  #probe(now: number): void {
    // Until it has answered there is no other.
    this.#probedAt = Infinity
    setImmediate(() => {
      this.#probedAt = this.#clock.now()
      this.#lag = this.#probedAt - now
    })
  }
}

/** A turn of the event loop that matters takes much longer. */
const probeInterval = 10

/** One request that is being served. */
export class Visit {
  readonly #admission: Admission
  readonly #bodyBytes: number
  #from: number
  #left = false

  constructor(admission: Admission, bodyBytes: number, now: number) {
    this.#admission = admission
    this.#bodyBytes = bodyBytes
    this.#from = now
    admission.serving += 1
    admission.bodyBytes += bodyBytes
  }

  /** It has waited so long for its client: that says nothing about this process. */
  waited(ms: number): void {
    this.#from += ms
  }

  /** The request is answered, or only waits from here on. Once is enough. */
  leave(now: number): void {
    if (this.#left) return
    this.#left = true
    const admission = this.#admission
    admission.serving -= 1
    admission.bodyBytes -= this.#bodyBytes
    admission.time += (now - this.#from - admission.time) / 32
  }
}
