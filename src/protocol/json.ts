import { deepestJson, isJsonObject, type Json } from '../shape/json.ts'

export { deepestJson, isJsonObject, type Json, type JsonObject, withoutUndefined } from '../shape/json.ts'

/** What JSON text says; undefined where it is not JSON, is nested too deep, or has a number that is too large. */
export function parseJson(text: string): Json | undefined {
  try {
    const value: Json | undefined = nestsTooDeep(text) ? undefined : JSON.parse(text)
    return hasInfinity(value) ? undefined : value
  } catch {
    return undefined
  }
}

/** Whether a number was larger than any that there is, such as 1e400. It passes for a number, and the ledger keeps it as null. */
export function hasInfinity(value: Json | undefined): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinity)
}

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

/** JSON text that is the same for equal values, whatever the order of their keys. */
export function toCanonicalJson(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null'
  let fields = ''
  for (const key of Object.keys(value).sort()) {
    if (value[key] === undefined) continue
    fields += `${fields === '' ? '' : ','}${JSON.stringify(key)}:${toCanonicalJson(value[key])}`
  }
  return `{${fields}}`
}
