import { type Described, describe } from './describe.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'
import type { Read, Shape } from './shape.ts'

/** The type of a value on the wire: its keys in snake_case. An object of anything, such as metadata, stays as it is. */
export type Wire<Value> = Value extends readonly (infer Item)[]
  ? readonly Wire<Item>[]
  : Value extends object
    ? string extends keyof Value
      ? Value
      : { readonly [Key in keyof Value as SnakeCase<Key & string>]: Wire<Value[Key]> }
    : Value

export type SnakeCase<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Text

/** The value as a platform reads it that announced 2.`minor`: snake_case, and only what that version knows. */
export function toWire<S extends Shape>(shape: S, value: Read<S>, minor: number): Wire<Read<S>> {
  return wireWriter(shape)(value, minor)
}

/** `toWire` for a shape that is written again and again. */
export function wireWriter<S extends Shape>(shape: S): (value: Read<S>, minor: number) => Wire<Read<S>> {
  const described = describe(shape)
  return (value, minor) => write(described, value, minor) as Wire<Read<S>>
}

function write({ wire, fields, item, isList }: Described, value: unknown, minor: number): unknown {
  if (isList && item?.fields !== undefined) return (value as readonly unknown[]).map(one => write(item, one, minor))
  if (fields === undefined) return value
  const body: Record<string, unknown> = {}
  for (const { key, name, field } of wire) {
    const child = (value as Record<string, unknown>)[key]
    if (child === undefined || (field.info.since ?? 0) > minor) continue
    const written = write(field, child, minor)
    if (field.fields === undefined || !isEmpty(written) || isEmpty(child)) body[name] = written
  }
  return body
}

/** A body that is written already, without what 2.`minor` does not know. Fields that the shape does not have stay. */
export function trim(shape: Shape, body: JsonObject, minor: number): JsonObject {
  return trimObject(describe(shape), body, minor)
}

function trimObject({ wire }: Described, body: JsonObject, minor: number): JsonObject {
  const kept: [string, Json | undefined][] = []
  for (const [name, value] of Object.entries(body)) {
    const field = wire.find(known => known.name === name)?.field
    if ((field?.info.since ?? 0) > minor) continue
    const trimmed = field?.fields !== undefined && isJsonObject(value) ? trimObject(field, value, minor) : value
    // An object of which nothing is left would tell an older platform of a field that has no meaning for it.
    if (trimmed === value || !isEmpty(trimmed) || isEmpty(value)) kept.push([name, trimmed])
  }
  return Object.fromEntries(kept)
}

function isEmpty(value: unknown): boolean {
  for (const _ in value as object) return false
  return true
}
