import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { snakeCase } from '../../shape/describe.ts'

/** Names of the code are in snake case on the wire, as everywhere in this API, and its times are ISO 8601. */
export function toBody<Row extends object>(row: Row): JsonObject {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [snakeCase(key), toValue(key, value as Json | undefined)]),
  )
}

/** What belongs to others has the names that they gave it. */
const others = new Set(['context', 'identity', 'metadata'])
/** What the history has of a row before and after a change: its names are those of the wire already. */
const rows = new Set(['before', 'after'])

function toValue(key: string, value: Json | undefined): Json | undefined {
  if (isJsonObject(value) && rows.has(key))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toTime(name, each)]))
  if (Array.isArray(value)) return value.map(each => (isJsonObject(each) ? toBody(each) : each))
  return isJsonObject(value) && !others.has(key) ? toBody(value) : toTime(key, value)
}

function toTime(key: string, value: Json | undefined): Json | undefined {
  const isTime = typeof value === 'number' && /(?:At|Until|Before|Since|_before|^at|^since)$/.test(key)
  return isTime ? new Date(value).toISOString() : value
}
