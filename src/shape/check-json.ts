import { createBudget, FaultError, type Spend } from './limits.ts'

/** A copy of a value that somebody else has parsed, made of nothing but JSON. Throws a FaultError where it is not. */
export function copyJson(value: unknown, maxValues = 1_000_000): unknown {
  return copy(value, [], createBudget(maxValues))
}

/** `path` is where the value stands: each one is at its end while it is copied. */
function copy(value: unknown, path: (string | number)[], spend: Spend): unknown {
  spend(path.length, () => ({ path: path.slice(0, 10) }))
  if (isScalar(value)) return value
  const inner = (key: string | number, item: unknown) => {
    path.push(key)
    const copied = copy(item, path, spend)
    path.pop()
    return copied
  }
  if (Array.isArray(value)) return Array.from(value, (item: unknown, index) => inner(index, item))
  if (!isPlain(value))
    throw new FaultError({
      path,
      problem: 'it holds something that JSON cannot hold',
      remedy: 'use only text, finite numbers, true, false, null, lists and objects',
    })
  if (Object.hasOwn(value, '__proto__'))
    throw new FaultError({ path, problem: 'a key must not be called __proto__', remedy: 'give it another name' })
  const copied: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) if (item !== undefined) copied[key] = inner(key, item)
  return copied
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
