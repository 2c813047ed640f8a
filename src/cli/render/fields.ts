import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { renderJson } from './json.ts'
import { toValue } from './printable.ts'

type Field = readonly [name: string, value: string]

/** A result without what is undefined or null, as `--output` says. */
export function renderResult(result: object, output: 'json' | 'text'): string {
  const fields = withoutNull(result)
  return output === 'json' ? renderJson(fields) : renderFields(fields)
}

/** The fields of some objects, one a line, values in one column. */
export function renderFields(...objects: readonly (JsonObject | undefined)[]): string {
  const fields = objects.flatMap(object => toFields(object))
  const width = Math.max(0, ...fields.map(([name]) => toValue(name).length))
  return fields.map(([name, value]) => `${toValue(name).padEnd(width)}  ${toValue(value)}\n`).join('')
}

/** The leaves of an object, each named by its path: `{ a: { b: 1 } }` is `a.b`. */
function toFields(value: Json | undefined, path = ''): Field[] {
  if (value === undefined) return []
  if (isJsonObject(value) && (path === '' || Object.keys(value).length > 0)) {
    return Object.entries(value).flatMap(([key, inner]) => toFields(inner, path === '' ? key : `${path}.${key}`))
  }
  return [[path, typeof value === 'string' ? value : JSON.stringify(value)]]
}

/** Without the fields that are undefined or null. */
export function withoutNull(value: object): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined && part !== null))
}
