import { BrokerError } from './errors.ts'
import { isJsonObject, type JsonObject } from './json.ts'

/**
 * Reads the envelope of a request. Unknown fields are ignored (GEN-05); a known one of the wrong type is a 400 that names
 * it. `null` counts as absent: generated clients send it where they mean nothing.
 */
export function requiredString(body: JsonObject, key: string): string {
  const value = optionalString(body, key)
  if (value === undefined) throw malformed(`${key} is required`)
  return value
}

/** An empty string is as good as absent for a mandatory field, and a mistake for an optional one. */
export function optionalString(body: JsonObject, key: string): string | undefined {
  const value = own(body, key)
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw malformed(`${key} must be a string`)
  if (value === '') throw malformed(`${key} must not be empty`)
  return value
}

export function optionalObject(body: JsonObject, key: string): JsonObject | undefined {
  const value = own(body, key)
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw malformed(`${key} must be an object`)
  return value
}

/** T-45: without a version, or with an empty one, `maintenance_info` says nothing. */
export function maintenanceVersion(body: JsonObject): string | undefined {
  const info = optionalObject(body, 'maintenance_info')
  if (info === undefined) return undefined
  const version = own(info, 'version')
  if (version === undefined || version === null || version === '') return undefined
  if (typeof version !== 'string') throw malformed('maintenance_info.version must be a string')
  return version
}

export function malformed(what: string): BrokerError {
  return new BrokerError('MalformedRequest', `The request is malformed: ${what}.`)
}

function own(body: JsonObject, key: string) {
  return Object.hasOwn(body, key) ? body[key] : undefined
}
