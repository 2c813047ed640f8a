import { z } from 'zod'
import { configSchema } from './schema.ts'

export interface KnownSetting {
  /** `server.port`; what stands in a list has `[]`: `auth.basic[].username`. */
  readonly key: string
  /** As it would be written in the file; undefined where there is none. */
  readonly default: unknown
}

/** Every scalar or list of scalars that can be set, in the schema's order. */
export function listKnownSettings(): readonly KnownSetting[] {
  return collect(configSchema, '', undefined)
}

/** The keys of the section at this path; list positions are passed over. */
export function keysOfSection(segments: readonly PropertyKey[]): readonly string[] {
  let type: unknown = configSchema
  for (const segment of segments) {
    const inner = unwrap(type)
    if (inner instanceof z.ZodObject) type = inner.shape[String(segment)]
    else if (inner instanceof z.ZodArray) type = inner.element
  }
  const section = unwrap(type)
  return section instanceof z.ZodObject ? Object.keys(section.shape) : []
}

function collect(type: unknown, key: string, preset: unknown): KnownSetting[] {
  if (type instanceof z.ZodPrefault) return collect(type.def.innerType, key, type.def.defaultValue)
  const inner = unwrap(type)
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([name, child]) =>
      collect(child, key === '' ? name : `${key}.${name}`, undefined),
    )
  }
  if (inner instanceof z.ZodArray && unwrap(inner.element) instanceof z.ZodObject) {
    return collect(inner.element, `${key}[]`, undefined)
  }
  return [{ key, default: preset }]
}

function unwrap(type: unknown): unknown {
  return type instanceof z.ZodPrefault || type instanceof z.ZodExactOptional ? unwrap(type.def.innerType) : type
}
