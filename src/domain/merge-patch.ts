import { isJsonObject, type JsonObject } from '../protocol/json.ts'

/** A JSON merge patch (RFC 7396): objects are merged key by key, null removes a key, anything else replaces. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target))
  for (const [key, value] of Object.entries(patch)) {
    const before = merged.get(key)
    if (value === null || value === undefined) merged.delete(key)
    else merged.set(key, isJsonObject(value) ? mergePatch(isJsonObject(before) ? before : {}, value) : value)
  }
  return Object.fromEntries(merged)
}
