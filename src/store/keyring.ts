import { createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { type Keyring, type SealedPlace, UnsealError } from '../sealing.ts'
import { algorithm, createFreshCiphers, nonceLength } from './fresh-ciphers.ts'

/** A key with its label: 32 bytes. */
export interface LabelledKey {
  readonly label: string
  readonly key: Uint8Array
}

export function isLabel(text: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,63}$/.test(text)
}

/** 32 bytes as base64; undefined for any other text. */
export function readKey(text: string): Uint8Array | undefined {
  return /^[A-Za-z0-9+/]{43}=$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

/** What a sealed text begins with: no JSON does, so that a text tells by itself whether it is sealed. */
const mark = 'e1:'
/** Bytes. */
const [saltLength, tagLength] = [12, 16]
/** Of the salt as base64. */
const textLength = 16

/** The label of the key that has sealed the text; undefined where it is not sealed. */
export function labelOf(text: string): string | undefined {
  return text.startsWith(mark) ? text.slice(mark.length, text.indexOf(':', mark.length)) : undefined
}

/**
 * AES-256-GCM with keys of their own for each process: what is configured is never used itself. A text is
 * `e1:<label>:<base64>` of a salt, which leads from the configured key to the one that is used, a random nonce, what is
 * encrypted, and the tag. The place is authenticated with it, and stands nowhere in it.
 */
export function createKeyring(keys: readonly LabelledKey[], current = keys[0]?.label ?? ''): Keyring {
  const roots = new Map(keys.map(({ label, key }) => [label, key]))
  const root = roots.get(current)
  if (root === undefined) throw new RangeError(`there is no key "${current}" to seal with`)
  const derived = new Map<string, KeyObject>()
  const salt = randomBytes(saltLength)
  const prefix = `${mark}${current}:${salt.toString('base64')}`
  const ownKey = derive(root, salt)
  derived.set(prefix, ownKey)
  const freshCipher = createFreshCiphers(ownKey)

  /** By the beginning of the text: its label and its salt. */
  function keyOf(text: string, label: string, place: SealedPlace): KeyObject {
    const start = text.slice(0, mark.length + label.length + 1 + textLength)
    const known = derived.get(start)
    if (known !== undefined) return known
    const found = roots.get(label)
    if (found === undefined) throw missing(label, place)
    const key = derive(found, Buffer.from(start.slice(-textLength), 'base64'))
    derived.set(start, key)
    // There are as many as processes that have written what is read.
    const [oldest] = derived.size > mostDerived ? derived.keys() : []
    if (oldest !== undefined) derived.delete(oldest)
    return key
  }

  return {
    current,
    labels: keys.map(({ label }) => label),
    seal(text, place) {
      const { nonce, cipher } = freshCipher()
      cipher.setAAD(toBytes(place))
      const encrypted = cipher.update(text, 'utf8')
      // Makes the tag: all is encrypted by now.
      cipher.final()
      return `${prefix}${Buffer.concat([nonce, encrypted, cipher.getAuthTag()]).toString('base64')}`
    },
    unseal(text, place) {
      const label = labelOf(text)
      if (label === undefined) throw unreadable(place)
      const key = keyOf(text, label, place)
      const bytes = Buffer.from(text.slice(mark.length + label.length + 1 + textLength), 'base64')
      if (bytes.length < nonceLength + tagLength) throw unreadable(place)
      const end = bytes.length - tagLength
      const options = { authTagLength: tagLength }
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceLength), options)
      decipher.setAAD(toBytes(place))
      decipher.setAuthTag(bytes.subarray(end))
      try {
        return decipher.update(bytes.subarray(nonceLength, end), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        throw unreadable(place)
      }
    },
  }
}

export function missing(label: string, place: SealedPlace): UnsealError {
  return new UnsealError(
    `${describe(place)} cannot be read: it is sealed with the key "${label}", which is not configured. Add that key to encryption.keys`,
  )
}

function unreadable(place: SealedPlace): UnsealError {
  return new UnsealError(
    `${describe(place)} cannot be read: it was sealed for another row, or with another key of the same label, or was changed. Put back a backup of the row`,
  )
}

/** `sealed of the instance "i-1"`. */
function describe([row, column, ...ids]: SealedPlace): string {
  return `"${column}" of the ${row} ${ids
    .filter(id => id !== '')
    .map(id => JSON.stringify(id))
    .join(' / ')}`
}

/** As JSON no two places read alike. */
function toBytes(place: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify(place))
}

const mostDerived = 10_000

function derive(root: Uint8Array, salt: Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', root, salt, 'purser sealed values', 32)))
}
