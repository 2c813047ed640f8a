import { inspect } from 'node:util'

/** Makes a text one without secrets. */
export type Redact = (text: string) => string

/**
 * The error without secrets, with its causes and the errors that it stands for. The same object where there are none in it; else one
 * of the same class with the same fields.
 */
export function redactError<E extends Error>(error: E, redact: Redact): E {
  return holdsSecret(error, redact, new Set()) ? (copy(error, redact, new Map()) as E) : error
}

/** The same for any field of an error, or of a line of a log. */
export function redactField(value: unknown, redact: Redact): unknown {
  return holdsSecret(value, redact, new Set()) ? copy(value, redact, new Map()) : value
}

function holdsSecret(value: unknown, redact: Redact, seen: Set<unknown>): boolean {
  if (typeof value === 'string') return redact(value) !== value
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  if (value instanceof Error) return fieldsOf(value).some(([, field]) => holdsSecret(field, redact, seen))
  if (Array.isArray(value)) return value.some(item => holdsSecret(item, redact, seen))
  const text = toText(value)
  return redact(text) !== text
}

function copy(value: unknown, redact: Redact, copies: Map<unknown, unknown>): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (copies.has(value)) return copies.get(value)
  if (value instanceof Error) {
    const made = Object.create(Object.getPrototypeOf(value), Object.getOwnPropertyDescriptors(value)) as Error
    copies.set(value, made)
    for (const [name, field] of fieldsOf(value)) {
      const enumerable = Object.prototype.propertyIsEnumerable.call(value, name)
      const safe = copy(field, redact, copies)
      Object.defineProperty(made, name, { value: safe, enumerable, configurable: true, writable: true })
    }
    return made
  }
  if (Array.isArray(value)) {
    const made: unknown[] = []
    copies.set(value, made)
    for (const item of value) made.push(copy(item, redact, copies))
    return made
  }
  // Whoever shows it writes it as JSON: where that has a secret, it is replaced by such a text.
  const text = toText(value)
  const safe = redact(text)
  return safe === text ? value : safe
}

function fieldsOf(error: Error): readonly (readonly [string, unknown])[] {
  return Object.getOwnPropertyNames(error).map(name => [name, Reflect.get(error, name)] as const)
}

function toText(value: object): string {
  try {
    return JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item)) ?? ''
  } catch {
    return inspect(value)
  }
}
