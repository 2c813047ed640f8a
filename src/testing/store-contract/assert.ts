import strict from 'node:assert/strict'

/** As Node.js has it, but for this: a field that is `undefined` is absent, and a store may answer either. */
export const assert: typeof strict = Object.assign(
  (value: unknown, message?: string) => strict(value, message),
  strict,
  {
    deepEqual: (actual: unknown, expected: unknown, message?: string) =>
      strict.deepEqual(toPresent(actual), toPresent(expected), message),
  },
)

function toPresent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPresent)
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value
  const entries = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(entries.map(([name, field]) => [name, toPresent(field)]))
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
