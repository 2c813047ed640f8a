import { deepestJson } from '../protocol/json.ts'
import { writeSensitive } from '../sensitive/marked.ts'
import { Sensitive } from '../sensitive/sensitive.ts'
import { TerminalError } from './errors.ts'

/**
 * A copy of the value as the ledger will give it back, so that a later run sees no difference. `what` begins the message
 * about a value that cannot be kept, and `path` names the value in it.
 */
export function toJson<T>(value: T, { what, path, bytes, sensitive }: Kept): T {
  if (value === undefined) return value
  const problem = findProblem(value, path, [])
  if (problem !== undefined) throw new TerminalError(`${what}: ${problem}. Only JSON can be kept.`)
  const text = stringify(value, { what, path, sensitive })
  const size = Buffer.byteLength(text)
  if (size > bytes)
    throw new TerminalError(`${what}: ${path} has ${size} bytes of JSON, and at most ${bytes} are allowed.`)
  return JSON.parse(text) as T
}

export interface Kept {
  readonly what: string
  readonly path: string
  /** The most that its JSON may have. */
  readonly bytes: number
  /** How a `Sensitive` is kept; hidden unless told otherwise. */
  readonly sensitive?: 'marked' | 'revealed'
}

function stringify(value: unknown, { what, path, sensitive }: Omit<Kept, 'bytes'>): string {
  try {
    return JSON.stringify(value, sensitive && writeSensitive(sensitive)) ?? 'null'
  } catch (cause) {
    throw new TerminalError(`${what}: ${path} cannot be written as JSON.`, { cause })
  }
}

/** What JSON would lose or refuse. `above` are the objects that the value stands in. */
function findProblem(value: unknown, path: string, above: readonly object[]): string | undefined {
  if (typeof value === 'bigint') return `${path} is a BigInt`
  if (typeof value === 'function' || typeof value === 'symbol') return `${path} is a ${typeof value}`
  if (typeof value === 'number' && !Number.isFinite(value)) return `${path} is ${value}`
  if (typeof value !== 'object' || value === null) return undefined
  if (above.includes(value)) return `${path} contains itself`
  if (above.length >= deepestJson) return `${path} is nested deeper than ${deepestJson} levels`
  if (value instanceof Sensitive) return findProblem(value.reveal(), path, [...above, value])
  if ('toJSON' in value && typeof value.toJSON === 'function') return undefined
  if (!isPlain(value)) return losesAll(value) ? `${path} is ${className(value)}, which JSON loses` : undefined
  const inside = [...above, value]
  for (const [key, item] of Object.entries(value)) {
    const problem = findProblem(item, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`, inside)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** A Map, a Date, a Response: nothing of it can be read as the fields of an object. */
export function isFieldless(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isPlain(value) && losesAll(value)
}

/** `a Map`, `an Error`, `a Generator`. */
export function className(value: object): string {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  const name = value.constructor?.name || (tag === 'Object' ? 'object without fields' : tag)
  return `${/^[aeio]/i.test(name) ? 'an' : 'a'} ${name}`
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === null || prototype === Object.prototype
}

/** A Map, a Promise, a Response, bytes. An instance of an ordinary class becomes an object with its fields. */
function losesAll(value: object): boolean {
  return ArrayBuffer.isView(value) || Object.keys(value).length === 0
}
