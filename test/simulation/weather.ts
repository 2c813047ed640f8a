import type { Random } from './random.ts'

/** What becomes of one call to the backend. */
export type Fate =
  /** Done, and said so. */
  | 'ok'
  /** Not done, and said so. */
  | 'error'
  /** Done, but the answer was lost. */
  | 'lost'
  /** Done after the caller has given up. */
  | 'late'
  /** Never arrives, never answers. */
  | 'hang'
  /** Will not be done, and asking again is no use. */
  | 'refused'

/** How bad things are: probabilities of everything that goes wrong by itself. */
export interface Weather {
  /** A call to the store fails without an effect. */
  readonly storeFailure: number
  /** A call to the store has its effect, and its caller is told that it failed. */
  readonly storeDoubt: number
  /** A message to or from the store takes seconds instead of milliseconds. */
  readonly storeDelay: number
  /** A message to or from the store takes longer than any lease. */
  readonly storeStall: number
  readonly lostWakeUp: number
  /** A platform never gets its answer. */
  readonly lostAnswer: number
  /** Of calls that create, that delete, and that only look. */
  readonly backend: Readonly<Record<CallKind, Readonly<Record<Fate, number>>>>
}

export type CallKind = 'put' | 'drop' | 'look'

const fine = { ok: 1, error: 0, lost: 0, late: 0, hang: 0, refused: 0 }

export const calm: Weather = {
  storeFailure: 0,
  storeDoubt: 0,
  storeDelay: 0,
  storeStall: 0,
  lostWakeUp: 0,
  lostAnswer: 0,
  backend: { put: fine, drop: fine, look: fine },
}

/** Each world has some kinds of trouble and not others: all of them at once would hide what one of them can do alone. */
export function drawWeather(random: Random): Weather {
  const sometimes = (most: number) => (random.chance(0.5) ? random.next() * most : 0)
  return {
    storeFailure: sometimes(0.1),
    storeDoubt: sometimes(0.1),
    storeDelay: sometimes(0.2),
    storeStall: sometimes(0.02),
    lostWakeUp: random.pick([0, 0.3, 1]),
    lostAnswer: sometimes(0.2),
    // Apart from one another: a bad day for creations is the worst one where deletions go smoothly.
    backend: { put: drawFates(sometimes), drop: drawFates(sometimes), look: drawFates(sometimes) },
  }
}

function drawFates(sometimes: (most: number) => number): Readonly<Record<Fate, number>> {
  return {
    ok: 1,
    error: sometimes(0.3),
    lost: sometimes(0.3),
    late: sometimes(1.5),
    hang: sometimes(0.1),
    refused: sometimes(0.1),
  }
}

export type Trouble = 'crash' | 'pause' | 'partition' | 'restart'

export interface Blow {
  readonly at: number
  readonly kind: Trouble
  readonly replica: number
  /** How long a pause or a partition lasts, and how long after a crash another process starts. */
  readonly forMs: number
}

/** What is done to the replicas: mostly close to a request, since nothing happens between them. */
export function drawBlows(random: Random, replicas: number, times: readonly [number, ...number[]]): readonly Blow[] {
  const weights = {
    crash: random.between(0, 3),
    pause: random.between(0, 3),
    partition: random.between(0, 3),
    restart: random.between(0, 2),
  }
  const count = Object.values(weights).some(weight => weight > 0) ? random.between(0, 8) : 0
  return Array.from({ length: count }, () => ({
    at: Math.max(0, random.pick(times) + random.between(-2_000, 6_000)),
    kind: random.weighted(weights),
    replica: random.between(0, replicas - 1),
    // Shorter than half a lease, than a lease, or longer than one.
    forMs: random.between(
      ...random.pick<[number, number]>([
        [1_000, 15_000],
        [1_000, 15_000],
        [15_000, 29_000],
        [30_000, 70_000],
      ]),
    ),
  }))
}
