import { copyJson } from '../shape/check-json.ts'
import { isJsonObject, type Json } from '../shape/json.ts'
import { FaultError } from '../shape/limits.ts'
import type { Mistake } from '../shape/mistake.ts'
import { fromCode, type Path, type Source as Placed, quoted } from '../shape/place.ts'
import { readYaml } from '../shape/yaml.ts'

/** A value of the spec, and where it stands. */
export interface Item {
  readonly value: Json
  readonly path: Path
  readonly line?: number
  /** A plain scalar as it was written: 1.0, which as a number is 1. */
  readonly text?: string
}

export type Child = (parent: Item, key: string | number) => Item | undefined

export type Source =
  | { readonly ok: true; readonly root: Item; readonly child: Child }
  | { readonly ok: false; readonly faults: readonly SourceFault[] }

/** Something that keeps a source from being read. */
export interface SourceFault extends Pick<Item, 'line'> {
  readonly path?: Path
  /** What is wrong, and what to do. */
  readonly problem: string
}

/** More than any honest spec needs, and few enough to be read at once. */
export const maxBytes = 1024 * 1024
const maxValues = 100_000

/** YAML text, or a value that somebody else has parsed, which is copied to be sure that it is plain JSON. */
export function readSource(source: unknown): Source {
  try {
    const placed = typeof source === 'string' ? readText(source) : fromCode(copyJson(source, maxValues))
    if ('faults' in placed) return { ok: false, faults: placed.faults.map(toSourceFault) }
    const root = { value: placed.root as Json, path: [], line: typeof source === 'string' ? 1 : undefined }
    return { ok: true, root, child: (parent, key) => childOf(parent, key, placed) }
  } catch (error) {
    if (error instanceof FaultError) return { ok: false, faults: [toSourceFault(error.fault)] }
    throw error
  }
}

function readText(text: string): Placed | { readonly faults: readonly Mistake[] } {
  const { documents, faults } = readYaml(text, { name: '', maxBytes, maxValues })
  const [first, second] = documents
  if (faults.length > 0) return { faults }
  if (first === undefined || first.root === null)
    throw new FaultError({
      place: { source: '', line: 1 },
      problem: 'it is empty',
      remedy: 'write version, name, description and plans',
    })
  if (second !== undefined)
    throw new FaultError({
      place: second.place,
      problem: 'a second document begins here',
      remedy: 'keep one spec in one file',
    })
  const tagged = findTags(first, first.root)
  return tagged.length > 0 ? { faults: tagged } : first
}

/** A tag that nobody resolved would silently turn into text. */
function findTags(source: Placed, value: unknown): readonly Mistake[] {
  if (typeof value !== 'object' || value === null) return []
  const places = [...(source.places.get(value)?.values() ?? [])]
  const own = places.flatMap(place =>
    place.tag === undefined
      ? []
      : [{ path: [], place, problem: `the tag ${quoted(place.tag)} has no meaning here`, remedy: 'remove it' }],
  )
  return [...own, ...Object.values(value).flatMap(child => findTags(source, child))]
}

function toSourceFault({ place, path, problem, remedy }: Mistake): SourceFault {
  return { line: place?.line, path, problem: `${problem}; ${remedy}` }
}

function childOf({ value, path }: Item, key: string | number, { places }: Placed): Item | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  const child = Array.isArray(value) ? value[Number(key)] : isJsonObject(value) ? value[key] : undefined
  const { line, text } = places.get(value)?.get(key) ?? {}
  return child === undefined ? undefined : { value: child, path: [...path, key], line, text }
}
