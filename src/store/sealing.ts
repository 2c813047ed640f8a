/**
 * The one way into and out of what is sealed, in every store: columns of their own that hold parameters, state, results,
 * inputs, step outputs and identities and nothing else. Where there are keys, they are encrypted here.
 */
import { type Keyring, type SealedPlace, UnsealError } from '../sealing.ts'
import type { HistoryEvent, Operation } from '../store.ts'
import { labelOf, missing } from './keyring.ts'

export interface Sealer {
  readonly keyring?: Keyring
  seal(value: unknown, place: SealedPlace): string
  /** Also what was written before there were keys. */
  unseal(text: string, place: SealedPlace): unknown
  /** The same text as the current key seals it; undefined where it is so already, or nothing is in it. */
  again(text: string, place: SealedPlace): string | undefined
}

/**
 * What is left sealed of an operation that has ended, and of its steps, when what it was about is deleted. Words of the
 * databases' own functions, so they stay as they are.
 */
export const emptied = { operation: '{"input":{}}', step: '{}' } as const

/** Nothing is in them that could be secret: they are never encrypted. */
export const nothingSealed: readonly string[] = Object.values(emptied)

export function createSealer(keyring?: Keyring): Sealer {
  const known = createKnown()

  function toSealed(text: string, place: SealedPlace): string {
    if (keyring === undefined || nothingSealed.includes(text)) return text
    if (isWrittenOnce(place)) return keyring.seal(text, place)
    const key = JSON.stringify(place)
    const before = known.find(key)
    if (before?.text === text && labelOf(before.sealed) === keyring.current) return before.sealed
    return known.keep(key, { text, sealed: keyring.seal(text, place) }).sealed
  }

  function open(sealed: string, place: SealedPlace): string {
    const label = labelOf(sealed)
    if (label === undefined) return sealed
    if (keyring === undefined) throw missing(label, place)
    if (isWrittenOnce(place)) return keyring.unseal(sealed, place)
    const key = JSON.stringify(place)
    const before = known.find(key)
    if (before?.sealed === sealed) return before.text
    return known.keep(key, { text: keyring.unseal(sealed, place), sealed }).text
  }

  return {
    keyring,
    seal: (value, place) => toSealed(JSON.stringify(value), place),
    unseal: (text, place) => JSON.parse(open(text, place)),
    again(text, place) {
      if (keyring === undefined || nothingSealed.includes(text) || labelOf(text) === keyring.current) return undefined
      return keyring.seal(open(text, place), place)
    },
  }
}

/** The output of a step is read only by who takes the operation over. */
function isWrittenOnce([row]: SealedPlace): boolean {
  return row === 'step'
}

interface KnownValue {
  readonly text: string
  readonly sealed: string
}

/** Values of one generation, and characters of each, that are remembered. */
const [mostKnown, longestKnown] = [2_000, 2_000]

/**
 * The latest values by their places: what is accepted here is most often claimed, polled and ended here, and most of what is
 * written again has not changed. A value is found only in its own place. They are forgotten a generation at a time: to look
 * for the oldest of a map that others were deleted from takes as long as many seals.
 */
function createKnown() {
  let latest = new Map<string, KnownValue>()
  let former = latest
  return {
    find: (place: string) => latest.get(place) ?? former.get(place),
    keep(place: string, value: KnownValue): KnownValue {
      if (value.text.length > longestKnown) return value
      if (latest.size >= mostKnown) {
        former = latest
        latest = new Map()
      }
      latest.set(place, value)
      return value
    },
  }
}

/** What an operation keeps when what it was about is deleted. */
export function withoutSealed({ identity: _identity, requestHash: _hash, ...kept }: Operation): Operation {
  return { ...kept, input: {} }
}

/** An event of the history: who asked is personal data. Its row has one column, so that it is sealed in its place. */
export function fromEvent(sealer: Sealer, key: string, event: HistoryEvent): string {
  const { identity } = event
  if (identity === undefined || sealer.keyring === undefined) return JSON.stringify(event)
  return JSON.stringify({ ...event, identity: sealer.seal(identity, placeOfEvent(key, event)) })
}

/** `key`: what its row is found by. */
export function toEvent(sealer: Sealer, key: string, doc: string): HistoryEvent {
  const event = JSON.parse(doc)
  const { identity } = event
  return typeof identity === 'string'
    ? { ...event, identity: sealer.unseal(identity, placeOfEvent(key, event)) }
    : event
}

/**
 * The same, of a row that somebody may have written into: undefined where it cannot be read, or is found by another instance than
 * it is about. `key` is what the row is found by, `keyOf` what it should be.
 */
export function readEvent(
  sealer: Sealer,
  key: () => string,
  doc: string,
  keyOf: (instanceId: string) => string,
): HistoryEvent | undefined {
  try {
    const event = toEvent(sealer, key(), doc)
    return key() === keyOf(String(event.instanceId)) ? event : undefined
  } catch (error) {
    if (error instanceof TypeError) return undefined
    if (error instanceof SyntaxError || error instanceof UnsealError) return undefined
    throw error
  }
}

/** The same event, sealed with the current key; undefined where it is so already. */
export function eventAgain(sealer: Sealer, key: string, doc: string): string | undefined {
  const event = JSON.parse(doc)
  const { identity } = event
  if (identity === undefined) return undefined
  const text = typeof identity === 'string' ? identity : JSON.stringify(identity)
  const sealed = sealer.again(text, placeOfEvent(key, event))
  return sealed === undefined ? undefined : JSON.stringify({ ...event, identity: sealed })
}

function placeOfEvent(key: string, { at, type, operationId = '' }: HistoryEvent): SealedPlace {
  return ['history', 'identity', key, operationId, type, String(at)]
}
