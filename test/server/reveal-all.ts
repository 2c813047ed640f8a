import { Sensitive } from '../../src/sensitive/sensitive.ts'

/** The same value with what is hidden in it: two hidden values look alike to whoever compares them. */
export function revealAll<T>(value: T): T {
  return reveal(value) as T
}

function reveal(value: unknown): unknown {
  if (value instanceof Sensitive) return value.reveal()
  if (Array.isArray(value)) return value.map(reveal)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, reveal(item)]))
}
