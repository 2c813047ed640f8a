import { configSchema } from './schema.ts'
import type { Path, Setting } from './section.ts'

export interface KnownSetting {
  /** `server.port`; what stands in a list has `[]`: `auth.basic[].username`. */
  readonly key: string
  /** As it would be written in the file; undefined where there is none. */
  readonly default: unknown
}

/** Every scalar or list of scalars that can be set, in the schema's order. */
export function listKnownSettings(): readonly KnownSetting[] {
  return collect(configSchema, '')
}

/** The keys of the section at this path. */
export function keysOfSection(path: Path): readonly string[] {
  let found: Setting<unknown> | undefined = configSchema
  for (const segment of path) found = found?.element ?? found?.shape?.[segment]
  return Object.keys(found?.shape ?? {})
}

function collect({ shape, element, preset }: Setting<unknown>, key: string): KnownSetting[] {
  if (element?.shape !== undefined) return collect(element, `${key}[]`)
  if (shape === undefined) return [{ key, default: preset }]
  return Object.entries(shape).flatMap(([name, child]) => collect(child, key === '' ? name : `${key}.${name}`))
}
