import { describe } from '../shape/describe.ts'
import type { Kind, Read, Shape } from '../shape/shape.ts'
import { BrokerError } from './errors.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'

/** What is inside of an object is looked at later, if at all. */
export type Envelope<S extends Shape> = {
  readonly [Key in keyof Read<S>]: Read<S>[Key] extends string | undefined ? Read<S>[Key] : JsonObject | undefined
}

/**
 * Reads the envelope of a request. Unknown fields are ignored (GEN-05); a known one of the wrong type is a 400 that names
 * it. `null` and an empty text count as absent: clients made from Go structs send them where they mean nothing.
 */
export function createReader<S extends Shape>(shape: S): (body: JsonObject) => Envelope<S> {
  const fields = describe(shape).wire.map(({ key, name, field }) => ({
    key,
    name,
    read: readers.get(field.info.kind) ?? readDetails,
    isRequired: !field.optional,
  }))
  return body => {
    const envelope: Record<string, unknown> = {}
    for (const { key, name, read, isRequired } of fields) {
      const value = read(body, name)
      if (isRequired && value === undefined) throw required(name)
      envelope[key] = value
    }
    return envelope as Envelope<S>
  }
}

/** By the kind of a field. What has none is an object of the platform's. */
const readers = new Map<Kind | undefined, (body: JsonObject, name: string) => string | JsonObject | undefined>([
  ['text', readText],
  ['other', readObject],
])

/** `path` is what a refusal calls it. */
export function readText(body: JsonObject, name: string, path = name): string | undefined {
  const value = own(body, name)
  if (saysNothing(value)) return undefined
  if (typeof value !== 'string') throw malformed(`${path} must be a string`)
  return value
}

/** As it is: what parameters hold is the user's business. */
function readObject(body: JsonObject, name: string): JsonObject | undefined {
  const value = own(body, name)
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw malformed(`${name} must be an object`)
  return value
}

/** Without the fields that say nothing. Where none is left, the object says nothing either. */
function readDetails(body: JsonObject, name: string): JsonObject | undefined {
  const given = Object.entries(readObject(body, name) ?? {}).filter(([, value]) => !saysNothing(value))
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

function saysNothing(value: Json | undefined): value is undefined | null | '' {
  return value === undefined || value === null || value === ''
}

export function required(name: string): BrokerError {
  return malformed(`${name} is required`)
}

export function malformed(what: string): BrokerError {
  return new BrokerError('MalformedRequest', `The request is malformed: ${what}.`)
}

/** What cannot be read is a 400 that says why. */
export function readOrRefuse<Value>(read: () => Value, why: string): Value {
  try {
    return read()
  } catch {
    throw malformed(why)
  }
}

function own(body: JsonObject, name: string) {
  return Object.hasOwn(body, name) ? body[name] : undefined
}
