import { describe } from '../shape/describe.ts'
import type { Read, Shape } from '../shape/shape.ts'
import { BrokerError } from './errors.ts'
import { isJsonObject, type JsonObject } from './json.ts'

/** What is inside of an object is looked at later, if at all. */
export type Envelope<S extends Shape> = {
  readonly [Key in keyof Read<S>]: Read<S>[Key] extends string | undefined ? Read<S>[Key] : JsonObject | undefined
}

/**
 * Reads the envelope of a request. Unknown fields are ignored (GEN-05); a known one of the wrong type is a 400 that names
 * it. `null` counts as absent: generated clients send it where they mean nothing.
 */
export function createReader<S extends Shape>(shape: S): (body: JsonObject) => Envelope<S> {
  const fields = describe(shape).wire.map(({ key, name, field }) => {
    const read = field.info.kind === 'text' ? readText : readObject
    return { key, name, read, isRequired: !field.optional }
  })
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

/** An empty text is a mistake. */
export function readText(body: JsonObject, name: string): string | undefined {
  const value = own(body, name)
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw malformed(`${name} must be a string`)
  if (value === '') throw malformed(`${name} must not be empty`)
  return value
}

function readObject(body: JsonObject, name: string): JsonObject | undefined {
  const value = own(body, name)
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw malformed(`${name} must be an object`)
  return value
}

/** T-45: without a version, or with an empty one, `maintenance_info` says nothing. */
export function maintenanceVersion(info: JsonObject | undefined): string | undefined {
  const version = info === undefined ? undefined : own(info, 'version')
  if (version === undefined || version === null || version === '') return undefined
  if (typeof version !== 'string') throw malformed('maintenance_info.version must be a string')
  return version
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
