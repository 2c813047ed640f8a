import { createBudget, FaultError, type Spend } from './limits.ts'
import type { Path } from './place.ts'

/** A copy of a value that somebody else has parsed, made of nothing but JSON. Throws a FaultError where it is not. */
export function copyJson(value: unknown, maxValues = 1_000_000): unknown {
  return copy(value, [], createBudget(maxValues))
}

function copy(value: unknown, path: Path, spend: Spend): unknown {
  spend(path.length, () => ({ path: path.slice(0, 10) }))
  if (isScalar(value)) return value
  if (Array.isArray(value)) return Array.from(value, (item: unknown, index) => copy(item, [...path, index], spend))
  if (!isPlain(value))
    throw new FaultError({
      path,
      problem: 'it holds something that JSON cannot hold',
      remedy: 'use only text, finite numbers, true, false, null, lists and objects',
    })
  if (Object.hasOwn(value, '__proto__'))
    throw new FaultError({ path, problem: 'a key must not be called __proto__', remedy: 'give it another name' })
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, copy(item, [...path, key], spend)]),
  )
}

/** Whether a value can be written as JSON. `above` holds the objects around it: one that contains itself has no JSON. */
export function isJson(value: unknown, above: Set<object> = new Set()): boolean {
  if (isScalar(value)) return true
  if ((!Array.isArray(value) && !isPlain(value)) || above.has(value)) return false
  above.add(value)
  const fine = Object.values(value).every(item => item === undefined || isJson(item, above))
  above.delete(value)
  return fine
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
