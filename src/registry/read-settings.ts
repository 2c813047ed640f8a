import { resolve } from 'node:path'
import { isScratch } from '../bundle/source.ts'
import { describe, relaxed } from '../shape/describe.ts'
import { anything, oneOf } from '../shape/fields.ts'
import { isError, type Mistake } from '../shape/mistake.ts'
import { isObject, type Path, type Places, placeOf, type Source, valueAt } from '../shape/place.ts'
import { read } from '../shape/read.ts'
import { list, type Shape, unique } from '../shape/shape.ts'
import { isCertificate, type RegistrySettings, registryShape } from './settings.ts'
import { findRegistryType, registryTypes } from './types.ts'

export interface ReadRegistries {
  /** Present where no mistake is an error. */
  readonly settings?: readonly RegistrySettings[]
  readonly mistakes: readonly Mistake[]
}

/**
 * The registry section of a configuration, also as the Automation Broker has it: with its names of types and keys. All
 * mistakes are found at once, below `path`; none of them shows a value that may be secret. Relative paths start from `folder`.
 */
export function readRegistrySettings(source: Source, folder: string, path: Path = []): ReadRegistries {
  const whole = read(section, source)
  const entries = Array.isArray(source.root) ? source.root : []
  const readings = entries.map((_, index) => readEntry(spellOut(source, index), index, folder))
  const mistakes = [whole, ...readings].flatMap(reading =>
    reading.mistakes.map((mistake): Mistake => ({ ...mistake, path: [...path, ...mistake.path] })),
  )
  if (mistakes.some(isError)) return { mistakes }
  return { settings: readings.flatMap(({ settings }) => settings ?? []), mistakes }
}

const section = list(anything<unknown>('a registry', { secret: true }), {
  rule: 'a list of registries',
  // Names are the only thing that keeps the services of two registries apart.
  rules: [unique(entry => valueAt(entry, ['name']), 'name', 'it is used twice; rename one of them')],
})

function readEntry(entry: Source, index: number, folder: string) {
  const type = valueAt(entry.root, ['type']) ?? 'directory'
  const shape = findRegistryType(type)?.shape ?? unknownType
  const reading = read(shape, entry, {
    lenient: true,
    textAsValues: true,
    valuesAsText: true,
    unknown: () => 'warning',
    isIgnored: key => isScratch(key) || keysOfAll.has(relaxed(key)),
  })
  const { wire } = describe(shape)
  const mistakes = reading.mistakes.map(mistake => {
    // As the reference spells them.
    const [key = '', ...rest] = mistake.path
    const name = wire.find(field => field.key === key)?.name ?? key
    return { ...mistake, path: mistake.path.length === 0 ? [index] : [index, name, ...rest] }
  })
  return { settings: reading.ok ? withPaths(reading.value, shape, folder) : undefined, mistakes }
}

const unknownType = registryShape({
  type: oneOf([...registryTypes.map(({ name }) => name), ...registryTypes.flatMap(({ aliases = [] }) => aliases)]),
})

/** A key that is for another type has no effect, and is not worth a word: entries may have been of that type before. */
const keysOfAll = new Set(registryTypes.flatMap(({ shape }) => [...describe(shape).spellings.keys()]))

/** The entry without what is as good as absent, and with `tag: v1` as `tag: { default: v1 }`. */
function spellOut(source: Source, index: number): Source {
  const { places } = source
  const entry = valueAt(source.root, [index])
  const place = placeOf(source, [index])
  if (!isObject(entry)) return { root: entry, place, places }
  const root = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== '' && value !== null))
  const known = places.get(entry) ?? new Map()
  places.set(root, known)
  if (root.tag !== undefined && !isObject(root.tag)) {
    const tag = { default: root.tag }
    if (known.has('tag')) places.set(tag, new Map([['default', known.get('tag')]]))
    root.tag = tag
  } else if (isObject(root.tag)) root.tag = withNamedMap(root.tag, places)
  return { root, place, places }
}

/** `named: [{ a: [v1] }, { b: [v2] }]`, as the Automation Broker's proposal has it, is the map of them all. */
function withNamedMap(tag: Record<string, unknown>, places: Places): Record<string, unknown> {
  if (!Array.isArray(tag.named)) return tag
  const maps = tag.named.filter(isObject)
  const named: Record<string, unknown> = {}
  for (const [image, tags] of maps.flatMap(Object.entries))
    named[image] = Object.hasOwn(named, image) ? [named[image], tags].flat() : tags
  places.set(named, new Map(maps.flatMap(map => [...(places.get(map) ?? [])])))
  return { ...tag, named }
}

function withPaths<S extends RegistrySettings>(settings: S, shape: Shape, folder: string): S {
  const { fields } = describe(shape)
  const isPath = (key: string, value: unknown): value is string =>
    fields?.get(key)?.info.kind === 'folder' &&
    typeof value === 'string' &&
    !isCertificate(value) &&
    !(key === 'authName' && settings.authType === 'secret')
  const paths = Object.entries(settings).flatMap(([key, value]) =>
    isPath(key, value) ? [[key, resolve(folder, value)] as const] : [],
  )
  return { ...settings, ...Object.fromEntries(paths) }
}
