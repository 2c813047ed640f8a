/** What the wire and the ledger can hold. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Deeper than any honest value; shallow enough that no code that walks one can run out of stack. */
export const deepestJson = 100
