import * as v from 'valibot'
import type { Path } from './place.ts'
import type { About, FieldInfo, ObjectInfo, Shape } from './shape.ts'

/** A shape, taken apart. */
export interface Described {
  readonly info: Partial<FieldInfo> & Pick<ObjectInfo<never>, 'unknown'> & About
  readonly optional: boolean
  /** What stands in where nothing is given, as it would be written. */
  readonly preset?: unknown
  /** The fields of an object, by name. */
  readonly fields?: ReadonlyMap<string, Described>
  /** What a list, or a map of names, is made of. */
  readonly item?: Described
  readonly isList: boolean
  /** The fields of an object with their names on the wire. */
  readonly wire: readonly { readonly key: string; readonly name: string; readonly field: Described }[]
  /** The names of the fields by how they are compared in files. */
  readonly spellings: ReadonlyMap<string, string>
}

const known = new WeakMap<object, Described>()

export function describe(shape: Shape): Described {
  const found = known.get(shape)
  if (found !== undefined) return found
  const described = takeApart(shape)
  known.set(shape, described)
  return described
}

function takeApart(shape: Shape): Described {
  // What valibot keeps in its schemas is part of its public types; which of them this one is, is not.
  const { type, wrapped, default: preset, entries, item, value } = shape as Shape & Parts
  if (type === 'optional' && wrapped !== undefined) return { ...takeApart(wrapped), optional: true, preset }
  const fields = entries && new Map(Object.entries(entries).map(([key, child]) => [key, describe(child)]))
  const element = item ?? (type === 'record' ? value : undefined)
  return {
    info: v.getMetadata(shape as v.GenericSchema).info ?? {},
    optional: false,
    fields,
    item: element && describe(element),
    isList: item !== undefined,
    wire: Array.from(fields ?? [], ([key, field]) => ({ key, name: snakeCase(key), field })),
    spellings: new Map(Array.from(fields?.keys() ?? [], key => [relaxed(key), key])),
  }
}

interface Parts {
  readonly wrapped?: Shape
  readonly default?: unknown
  readonly entries?: Readonly<Record<string, Shape>>
  readonly item?: Shape
  readonly value?: Shape
}

export function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** What makes spellings of a key the same: `plan_updateable`, `plan-updateable`, `planUpdateable`. */
export function relaxed(key: string): string {
  return key.toLowerCase().replaceAll(/[-_]/g, '')
}

export function describeAt(shape: Shape, path: Path): Described | undefined {
  let found: Described | undefined = describe(shape)
  for (const key of path) found = found?.item ?? found?.fields?.get(String(key))
  return found
}

export interface ListedField {
  /** `auth`, `basic`, `[]`, `username`. */
  readonly path: readonly string[]
  readonly described: Described
}

/** Everything that can be given, in the shape's order: fields, and lists of them. Sections only where asked. */
export function listFields(shape: Shape, { sections = false } = {}): readonly ListedField[] {
  const collect = (path: readonly string[], described: Described): ListedField[] => {
    const { item, fields, isList } = described
    const self = { path, described }
    if (item?.fields !== undefined && isList) return [...(sections ? [self] : []), ...collect([...path, '[]'], item)]
    if (fields === undefined) return [self]
    const inner = [...fields].flatMap(([key, child]) => collect([...path, key], child))
    return sections ? [self, ...inner] : inner
  }
  return collect([], describe(shape))
}
