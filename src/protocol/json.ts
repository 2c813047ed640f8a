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

/** Whether JSON text is nested deeper than that: asked before it is parsed. */
export function nestsTooDeep(text: string): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 0x5c) i++
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > deepestJson) return true
    } else if (char === 0x7d || char === 0x5d) depth--
  }
  return false
}
