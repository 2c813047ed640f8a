/** What the wire and the ledger can hold. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A copy without the keys whose value is undefined, for those who look at keys: Object.keys, a spread over defaults, Ajv. */
export function withoutUndefined<T extends object>(fields: T): T {
  const rest = { ...fields }
  for (const key in rest) if (rest[key] === undefined) delete rest[key]
  return rest
}

/** Deeper than any honest value; shallow enough that no code that walks one can run out of stack. */
export const deepestJson = 100
