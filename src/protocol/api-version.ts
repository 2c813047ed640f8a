import { isJsonObject, type Json, type JsonObject } from './json.ts'

/** OSB API "API Version Header". Minor versions only add, so any 2.x is served (HDR-06); empty counts as missing (HDR-08). */
export function parseApiVersion(header: string | undefined): { readonly minor: number } | 'missing' | 'unsupported' {
  if (header === '2.17') return latest
  const text = header?.trim() ?? ''
  if (text === '') return 'missing'
  const minor = /^2\.(\d{1,6})$/.exec(text)?.[1]
  return minor === undefined ? 'unsupported' : { minor: Number(minor) }
}

/** The newest minor version this code speaks: from here on nothing is trimmed. */
export const latestMinor = 17
const latest = { minor: latestMinor }

/**
 * The minor version of 2.x that brought a field, for an object or for each object of a list. Fields that are not named
 * here have always been there, or are a vendor's.
 */
export interface FieldVersions {
  readonly [field: string]: number | NestedVersions
}

export interface NestedVersions {
  readonly since: number
  readonly fields: FieldVersions
}

const failureFlags = { instance_usable: 16, update_repeatable: 16 } as const
const instanceMetadata = { since: 16, fields: { labels: 16, attributes: 17 } } as const
const binding = {
  operation: 14,
  route_service_url: 8,
  volume_mounts: 10,
  endpoints: 15,
  metadata: { since: 16, fields: { expires_at: 16, renew_before: 17 } },
} as const

/** Which version brought which field of a response body. */
export const bodyFields = {
  provision: { operation: 9, metadata: instanceMetadata },
  update: { operation: 9, dashboard_url: 14, metadata: instanceMetadata },
  bind: binding,
  fetchInstance: { maintenance_info: 17, metadata: 17 },
  fetchBinding: binding,
  lastOperation: failureFlags,
  error: failureFlags,
} as const satisfies Record<string, FieldVersions>

export type BodyKind = keyof typeof bodyFields

/** The body without the fields that are newer than what the platform announced. The same object where all are known. */
export function trimBody(kind: BodyKind, body: JsonObject, minor: number): JsonObject {
  return trimFields(body, bodyFields[kind], minor)
}

export function trimFields(body: JsonObject, versions: FieldVersions, minor: number): JsonObject {
  if (minor >= latestMinor) return body
  const kept: [string, Json | undefined][] = []
  for (const [field, value] of Object.entries(body)) {
    const version = Object.hasOwn(versions, field) ? versions[field] : undefined
    if (version === undefined || typeof version === 'number') {
      if ((version ?? 0) <= minor) kept.push([field, value])
    } else if (version.since <= minor) {
      const trimmed = trimValue(value, version.fields, minor)
      // An object of which nothing is left would tell an older platform of a field it has no meaning for.
      if (!isEmptied(value, trimmed)) kept.push([field, trimmed])
    }
  }
  return Object.fromEntries(kept)
}

function trimValue(value: Json | undefined, fields: FieldVersions, minor: number): Json | undefined {
  if (isJsonObject(value)) return trimFields(value, fields, minor)
  if (!Array.isArray(value)) return value
  return value.map(item => (isJsonObject(item) ? trimFields(item, fields, minor) : item))
}

function isEmptied(before: Json | undefined, after: Json | undefined): boolean {
  return (
    isJsonObject(before) && isJsonObject(after) && Object.keys(before).length > 0 && Object.keys(after).length === 0
  )
}
